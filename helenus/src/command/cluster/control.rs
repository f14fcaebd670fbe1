//! What a cluster can be told, as the path of an HTTP request and as calls.

use std::time::Duration;

use helenus::{Cluster, ClusterError};

/// One thing to tell a cluster; nodes by their numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Control {
    /// [`Cluster::stop`]
    Stop(Vec<usize>),
    /// [`Cluster::restart`]
    Start(Vec<usize>),
    /// [`Cluster::pause`]
    Pause(Vec<usize>),
    /// [`Cluster::resume`]
    Resume(Vec<usize>),
    /// [`Cluster::partition`]
    Partition(Vec<usize>),
    /// [`Cluster::heal`]
    Heal,
    /// [`Cluster::delay`]
    Delay(Vec<usize>, Duration, Duration),
    /// [`Cluster::lose`], in percent
    Drop(Vec<usize>, f64),
}

impl Control {
    /// As a path: its name, the nodes, and in microseconds or percent what else it takes, as in `/delay/1,2/5000/0`.
    pub(super) fn path(&self) -> String {
        let list = |nodes: &[usize]| {
            let nodes: Vec<_> = nodes.iter().map(usize::to_string).collect();
            nodes.join(",")
        };
        match self {
            Self::Stop(nodes) => format!("/stop/{}", list(nodes)),
            Self::Start(nodes) => format!("/start/{}", list(nodes)),
            Self::Pause(nodes) => format!("/pause/{}", list(nodes)),
            Self::Resume(nodes) => format!("/resume/{}", list(nodes)),
            Self::Partition(nodes) => format!("/partition/{}", list(nodes)),
            Self::Heal => "/heal".to_owned(),
            Self::Delay(nodes, by, jitter) => format!(
                "/delay/{}/{}/{}",
                list(nodes),
                by.as_micros(),
                jitter.as_micros()
            ),
            Self::Drop(nodes, percent) => format!("/drop/{}/{percent}", list(nodes)),
        }
    }

    /// Reads what [`path`](Self::path) makes.
    pub(super) fn from_path(path: &str) -> Result<Self, String> {
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        let list = |text: &str| {
            let node = |text: &str| {
                text.parse()
                    .map_err(|_| format!("{text:?} is no node's number"))
            };
            text.split(',').map(node).collect::<Result<Vec<usize>, _>>()
        };
        let micros = |text: &str| {
            let number = text
                .parse()
                .map_err(|_| format!("{text:?} is no number of microseconds"));
            number.map(Duration::from_micros)
        };
        Ok(match parts.as_slice() {
            ["stop", nodes] => Self::Stop(list(nodes)?),
            ["start", nodes] => Self::Start(list(nodes)?),
            ["pause", nodes] => Self::Pause(list(nodes)?),
            ["resume", nodes] => Self::Resume(list(nodes)?),
            ["partition", nodes] => Self::Partition(list(nodes)?),
            ["heal"] => Self::Heal,
            ["delay", nodes, by, jitter] => Self::Delay(list(nodes)?, micros(by)?, micros(jitter)?),
            ["drop", nodes, percent] => {
                let share: Option<f64> = percent.parse().ok();
                let share = share.filter(|percent| (0.0..=100.0).contains(percent));
                let refused = || format!("{percent:?} is no percentage from 0 to 100");
                Self::Drop(list(nodes)?, share.ok_or_else(refused)?)
            }
            _ => return Err(format!("{path:?} is nothing that a cluster can be told")),
        })
    }

    /// Tells the cluster; of several nodes one after the other, up to the first that can't.
    pub(super) fn apply(&self, cluster: &Cluster) -> Result<(), ClusterError> {
        let each = |nodes: &[usize], tell: fn(&Cluster, usize) -> Result<(), ClusterError>| {
            nodes.iter().try_for_each(|node| tell(cluster, *node))
        };
        match self {
            Self::Stop(nodes) => each(nodes, Cluster::stop),
            Self::Start(nodes) => each(nodes, Cluster::restart),
            Self::Pause(nodes) => each(nodes, Cluster::pause),
            Self::Resume(nodes) => each(nodes, Cluster::resume),
            Self::Partition(nodes) => cluster.partition(nodes),
            Self::Heal => {
                cluster.heal();
                Ok(())
            }
            Self::Delay(nodes, by, jitter) => cluster.delay(nodes, *by, *jitter),
            Self::Drop(nodes, percent) => cluster.lose(nodes, percent / 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_read_back_from_their_paths() {
        for control in [
            Control::Stop(vec![2]),
            Control::Start(vec![1, 12]),
            Control::Pause(vec![1]),
            Control::Resume(vec![1]),
            Control::Partition(vec![1, 2]),
            Control::Heal,
            Control::Delay(vec![3], Duration::from_millis(50), Duration::ZERO),
            Control::Drop(vec![1], 12.5),
        ] {
            assert_eq!(Control::from_path(&control.path()), Ok(control));
        }
        for path in [
            "/stop",
            "/stop/",
            "/stop/x",
            "/drop/1/101",
            "/delay/1/2",
            "/",
            "",
        ] {
            assert!(Control::from_path(path).is_err(), "{path}");
        }
    }
}
