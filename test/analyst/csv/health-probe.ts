import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { slownessOf } from "../../support/worked.ts"

/** Limits below this are not tested. */
const LITTLE_MS = 100

/**
 * Asks `/healthz` every 50 ms over a connection of its own and remembers how long the longest answer took. It runs in a
 * thread of its own, because a test that sends tens of megabytes would measure its own delays. A busy machine delays
 * everything: the probe also asks an idle server in a process of its own at the same moment, and subtracts its time and
 * the delay of the thread itself.
 */
export class HealthProbe implements AsyncDisposable {
  readonly #worker: Worker
  count = 0

  private constructor(worker: Worker) {
    this.#worker = worker
  }

  static async open(port: number): Promise<HealthProbe> {
    const probe = new HealthProbe(new Worker(SCRIPT, { eval: true, workerData: port }))
    await once(probe.#worker, "online")
    await probe.latest()
    return probe
  }

  /** The longest delay since the last call, in milliseconds of a usual machine; waits for a running request. */
  async latest(): Promise<number> {
    this.#worker.postMessage("tell")
    const [{ longest, count, failed }] = (await once(this.#worker, "message")) as [Told]
    this.count += count
    if (failed) throw new Error(`/healthz: ${failed}`)
    return longest < LITTLE_MS ? longest : longest / slownessOf()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate()
  }
}

interface Told {
  readonly longest: number
  readonly count: number
  readonly failed: string | undefined
}

const SCRIPT = `
const { parentPort, workerData: port } = require("node:worker_threads")
const http = require("node:http")
const control = require("node:child_process").spawn(process.execPath, ["-e", \`
  const server = require("node:http").createServer((request, response) => response.end("alive"))
  server.keepAliveTimeout = 60_000
  server.listen(0, "127.0.0.1", () => console.log(server.address().port))
  process.stdin.resume().on("end", () => process.exit())
\`], { stdio: ["pipe", "pipe", "inherit"] })
let longest = 0, count = 0, failed, late = 0, last = performance.now(), wanted = false
setInterval(() => {
  const now = performance.now()
  late += Math.max(0, now - last - 20)
  last = now
}, 10)
const agents = {}
const ask = (at) => new Promise((resolve) => {
  const began = performance.now()
  agents[at] ??= new http.Agent({ keepAlive: true, maxSockets: 1 })
  const request = http.get({ port: at, host: "127.0.0.1", path: "/healthz", agent: agents[at] }, (response) => {
    if (response.statusCode !== 200) failed = "status " + response.statusCode
    response.resume().on("end", () => resolve(performance.now() - began))
  })
  // A connection that was kept may be let go just as it is used: that is no answer, and it is asked again.
  request.on("error", (error) => {
    if (!request.reusedSocket) failed = error.message
    resolve(0)
  })
})
async function probe() {
  const idle = await new Promise((resolve) => control.stdout.once("data", (text) => resolve(Number(text))))
  for (;;) {
    late = 0
    const [took, usual] = await Promise.all([ask(port), ask(idle)])
    longest = Math.max(longest, took - Math.max(usual, late))
    count++
    if (wanted) {
      parentPort.postMessage({ longest, count, failed })
      longest = count = 0
      failed = undefined
      wanted = false
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
parentPort.on("message", () => { wanted = true })
probe()
`
