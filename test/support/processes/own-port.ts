import { once } from "node:events"
import { createServer } from "node:net"

/** Below the ports that systems hand out for port 0: from 32,768 on Linux, from 49,152 on other systems. */
const [FROM, TO] = [20_000, 32_000]

/**
 * Returns a port for a server that is stopped and started again. A port that the system chose is free in between, and
 * another worker may get it.
 */
export async function ownPort(): Promise<string> {
  for (;;) {
    const port = FROM + Math.floor(Math.random() * (TO - FROM))
    const server = createServer()
    try {
      server.listen(port, "127.0.0.1")
      await once(server, "listening")
      return String(port)
    } catch {
      // The port is in use.
    } finally {
      server.close()
    }
  }
}
