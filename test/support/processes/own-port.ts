import { once } from "node:events"
import { createServer } from "node:net"

/** Below what systems give to whoever asks for any port: Linux begins at 32,768, others at 49,152. */
const [FROM, TO] = [20_000, 32_000]

/**
 * A port for a server that is stopped and started again. One that the system chose is free in between, and the next who asks
 * for any, in another worker, may get it.
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
      // Somebody has it.
    } finally {
      server.close()
    }
  }
}
