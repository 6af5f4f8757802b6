import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { inject } from "vitest"
import { ownPort } from "./own-port.ts"

/** Debian installs it in a folder that only root has in its path. */
const PLACES = ["nats-server", "/usr/sbin/nats-server"]
const program = PLACES.find((place) => spawnSync(place, ["--version"]).status === 0)

/** Without a `nats-server` program its tests are skipped. */
export const hasNats = program !== undefined

/** A real nats-server, which can be killed and started again on its port. */
export class NatsServer implements AsyncDisposable {
  readonly url: string
  readonly #options: readonly string[]
  #child: ChildProcess | undefined

  private constructor(port: string, options: readonly string[]) {
    this.url = `nats://127.0.0.1:${port}`
    this.#options = ["-a", "127.0.0.1", "-p", port, ...options]
  }

  /** Reserves a port; does not start the server yet. */
  static async prepare(...options: string[]): Promise<NatsServer> {
    return new NatsServer(await ownPort(), options)
  }

  static async start(...options: string[]): Promise<NatsServer> {
    const server = await NatsServer.prepare(...options)
    await server.start()
    return server
  }

  /** With this limit on the bytes of a message. */
  static withPayload(bytes: number): Promise<NatsServer> {
    return NatsServer.with(`max_payload: ${bytes}\n`)
  }

  /** One with a configuration file of its own. */
  static with(configuration: string): Promise<NatsServer> {
    const file = join(mkdtempSync(join(tmpdir(), inject("testRun"), "nats-")), "nats.conf")
    writeFileSync(file, configuration)
    return NatsServer.start("-c", file)
  }

  /** With TLS only, and this certificate. */
  static withCertificate({ key, cert }: { readonly key: string; readonly cert: string }): Promise<NatsServer> {
    const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "nats-"))
    const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")]
    writeFileSync(keyFile, key)
    writeFileSync(certFile, cert)
    return NatsServer.start("--tls", "--tlskey", keyFile, "--tlscert", certFile)
  }

  async start(): Promise<void> {
    const child = spawn(program ?? "", this.#options, { stdio: ["ignore", "ignore", "pipe"] })
    this.#child = child
    for await (const line of createInterface({ input: child.stderr })) if (line.includes("Server is ready")) break
    child.stderr.resume()
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  async kill(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill("SIGKILL")
    await once(child, "exit")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}
