package recipe;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A server that lives as long as the tests of a class. */
public final class Helenus implements BeforeAllCallback, AfterAllCallback {
  private Process server;
  private InetSocketAddress address;

  /** Where a session connects to. */
  public InetSocketAddress address() {
    return address;
  }

  @Override
  public void beforeAll(ExtensionContext context) throws IOException {
    server =
        new ProcessBuilder("helenus", "serve", "--listen", "127.0.0.1:0")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    BufferedReader out = new BufferedReader(new InputStreamReader(server.getInputStream()));
    String[] listen = out.readLine().split(" ")[2].split(":"); // ready: cql 127.0.0.1:43219 (…)
    address = new InetSocketAddress(listen[0], Integer.parseInt(listen[1]));
  }

  @Override
  public void afterAll(ExtensionContext context) {
    server.destroy();
  }
}
