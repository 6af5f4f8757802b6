import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { type Client, createClient } from "../../client/index.ts"
import { type Device, openDevice } from "../../client/device/index.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import type { Proposal } from "../../core/protocol/proposals/proposal.ts"
import { AwayPostgres } from "../support/away-postgres.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"

/** The outcome of a write as reported to a person: done, not done, or unknown. */
export type ReportedOutcome = "done" | "not done" | "either"

interface Reach {
  readonly baseUrl: string
  readonly token: string
  /** How the person settles a write in doubt. With `wait` the device itself reports the outcome, which takes minutes. */
  readonly doubts: () => "retry" | "abandon" | "wait"
}

/** Longer than anything may take that settles by itself. */
const FOR_EVER_MS = 6 * 60_000
const LOOK_MS = 150

/**
 * A person whose tasks are on their own machine: a real device, on a connection that can be cut and then leads to another
 * node. They approve each change, and ask until they learn its outcome.
 */
export class DevicePerson implements AsyncDisposable {
  readonly line: AwayPostgres
  readonly told = new Map<string, ReportedOutcome>()
  readonly id: ConversationId
  readonly #device: Device
  readonly #client: Client
  readonly #doubts: Reach["doubts"]

  private constructor(
    line: AwayPostgres,
    opened: { device: Device; client: Client; id: ConversationId },
    reach: Reach,
  ) {
    this.line = line
    this.id = opened.id
    this.#device = opened.device
    this.#client = opened.client
    this.#doubts = reach.doubts
  }

  static async open(reach: Reach): Promise<DevicePerson> {
    const { baseUrl, token } = reach
    const line = new AwayPostgres(baseUrl)
    const connected = Promise.withResolvers<void>()
    const device = openDevice({
      ...{ server: await line.open(), token, db: join(dataFolder(), "device.db"), embedsNotes: false },
      onState: ({ state }) => state === "connected" && connected.resolve(),
    })
    await connected.promise
    const client = createClient({ baseUrl, token })
    const { id } = await client.createConversation({ body: { deviceId: device.deviceId } })
    return new DevicePerson(line, { device, client, id }, reach)
  }

  /** Cuts the connection; the next one leads to the next node. */
  async move(): Promise<void> {
    await this.line.leave("refusing")
    await this.line.comeBack()
  }

  /** All tasks that the device has stored. */
  get titles(): string[] {
    return this.#device.tables.select("tasks").map(({ title }) => String(title))
  }

  get state(): string {
    return this.#device.state.state
  }

  /** Asks for a task, approves it, and waits until the run is over. */
  async write(title: string): Promise<ReportedOutcome> {
    const [begun, { id }] = [performance.now(), this]
    for await (const _ of this.#client.run(id, `Write down ${title}`, { tries: 1000 })) void _
    for (let state = "begun"; ; await pause(LOOK_MS)) {
      if (performance.now() - begun > FOR_EVER_MS)
        throw new Error(`${title} in ${id} does not end: ${state}; device ${JSON.stringify(this.#device.state)}`)
      try {
        const { items } = await this.#client.listProposals({ query: { conversationId: id } })
        const newest = items.find((proposal) => proposal.arguments.title === title)
        state = newest?.status ?? "never proposed"
        if (newest && (await this.#goOn(newest))) continue
        const { run } = await this.#client.resumeRun({ params: { id } }).catch(() => this.#lastRun())
        state += `, ${run?.status}`
        if (run?.status !== "completed") continue
        const told = readServerJson(newest)
        this.told.set(title, told)
        return told
      } catch (error) {
        state += `, ${(error as Error).message}` // asked again: the node that answered is gone, or another is asked now
      }
    }
  }

  async #lastRun() {
    const { items } = await this.#client.listRuns({ params: { id: this.id }, query: { limit: 1 } })
    return { run: items[0] }
  }

  /** True if there was something to do about it, or to wait for. */
  async #goOn({ id, status }: Proposal): Promise<boolean> {
    const params = { id }
    if (status === "pending") await this.#client.commitProposal({ params })
    else if (status === "expired") await this.#client.proposeAgain({ params })
    else if (status === "in_doubt") await this.#resolve(id)
    else return status === "applying"
    return true
  }

  async #resolve(id: string): Promise<void> {
    const choice = this.#doubts()
    if (choice !== "wait") await this.#client.resolveProposal({ params: { id }, body: { choice } })
    for (let status = "in_doubt"; status === "in_doubt"; await pause(LOOK_MS))
      status = (await this.#client.readProposal({ params: { id } })).status
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#device.close()
    await this.line[Symbol.asyncDispose]()
  }
}

function readServerJson(proposal: Proposal | undefined): ReportedOutcome {
  if (proposal?.status === "applied") return "done"
  return proposal?.status === "abandoned" ? "either" : "not done"
}
