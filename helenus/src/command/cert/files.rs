//! Files that are written all or, if one is there already, not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::CertError;
use super::issue::Issued;

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Everybody,
    Owner,
}

/// The files to be written, and what is to be in them.
pub(super) struct Files<'a> {
    folder: &'a Path,
    files: Vec<(PathBuf, &'a str, Access)>,
}

impl<'a> Files<'a> {
    pub(super) fn new(folder: &'a Path, issued: &'a Issued) -> Self {
        let pair = |pair: &'a super::issue::Pair| {
            [
                (
                    certificate(folder, &pair.name),
                    &*pair.certificate,
                    Access::Everybody,
                ),
                (key(folder, &pair.name), &*pair.key, Access::Owner),
            ]
        };
        Files {
            folder,
            files: issued.pairs().flat_map(pair).collect(),
        }
    }

    /// Writes them. With `force`, those that are there are replaced.
    pub(super) fn write(&self, force: bool) -> Result<(), CertError> {
        let failed = |file: &Path| {
            let file = file.to_owned();
            |reason| CertError::Write { file, reason }
        };
        fs::create_dir_all(self.folder).map_err(failed(self.folder))?;
        if !force && let Some((file, ..)) = self.files.iter().find(|(file, ..)| is_there(file)) {
            return Err(CertError::Exists(file.clone()));
        }
        for (file, text, access) in &self.files {
            match fs::remove_file(file) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(failed(file)(error));
                }
                _ => {}
            }
            create(file, *access)
                .and_then(|mut created| created.write_all(text.as_bytes()))
                .map_err(failed(file))?;
        }
        Ok(())
    }
}

/// A link that leads nowhere is there too.
fn is_there(file: &Path) -> bool {
    fs::symlink_metadata(file).is_ok()
}

pub(super) fn certificate(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.pem"))
}

pub(super) fn key(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.key"))
}

/// A new file, never one that is there: it has the right access from the start.
fn create(file: &Path, access: Access) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if access == Access::Owner {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = access;
    options.open(file)
}
