import { z } from "zod"
import type { DeviceCall, DeviceCalls, DevicePlace } from "../../agent/devices.ts"
import { failure } from "../../protocol/errors.ts"
import type { CallId } from "../../protocol/ids.ts"
import type { CallOutcome } from "../../protocol/socket.ts"
import {
  type Asked,
  type NewTask,
  type OpenWorkspace,
  Task,
  type TaskFilters,
  type Workspace,
} from "../../protocol/workspace.ts"

/** Sends what is asked in a conversation to where that conversation works: the server's own workspace, or a device. */
export function atSite(onServer: OpenWorkspace, devices: DeviceCalls): OpenWorkspace {
  return (asked) => (asked.site === "device" ? new DeviceWorkspace(devices, asked) : onServer(asked))
}

const TABLE = "tasks"
/** More than fit into a frame, where they are rows. */
const MOST_ROWS = 10_000

/** What another program keeps: fields that it leaves out are as empty. */
const orNull = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? null)
const DeviceTask = Task.extend({
  projectId: orNull(z.string()),
  description: orNull(z.string()),
  assignee: orNull(z.string()),
  dueDate: orNull(z.number()),
  isAiSuggested: Task.shape.isAiSuggested.default(0),
  isApproved: Task.shape.isApproved.default(1),
})

/** A person's workspace on their own machine. The device makes ids and times; its word about a row is checked as any input is. */
class DeviceWorkspace implements Workspace {
  readonly #devices: DeviceCalls
  readonly #asked: Asked

  constructor(devices: DeviceCalls, asked: Asked) {
    this.#devices = devices
    this.#asked = asked
  }

  async list(filters: TaskFilters): Promise<Task[]> {
    const given = Object.entries(filters).filter(([, value]) => value !== null && value !== undefined)
    const { rows } = await this.#read({ action: "select", filters: Object.fromEntries(given) })
    if (rows && rows.length > MOST_ROWS)
      throw new Error(`the device answered ${rows.length} rows, and ${MOST_ROWS} are the most; ask for fewer`)
    return orComplain(z.array(DeviceTask), rows)
  }

  async get(id: string): Promise<Task | undefined> {
    const { row } = await this.#read({ action: "get", data: { id } })
    return orComplain(DeviceTask.nullable(), row) ?? undefined
  }

  async create(data: NewTask, callId: CallId): Promise<Task> {
    const { row } = await this.#write({ action: "insert", data, callId })
    return orDoubt(row)
  }

  async delete(id: string, callId: CallId): Promise<Task | undefined> {
    const before = await this.get(id)
    if (!before) return undefined
    const { deleted, row } = await this.#write({ action: "delete", data: { id }, callId })
    if (deleted === undefined) return orDoubt(undefined)
    return deleted ? (row ? orDoubt(row) : before) : undefined
  }

  async restore(task: Task, callId: CallId): Promise<Task | undefined> {
    const { rows } = await this.#write({ action: "restore", data: { rows: [task] }, callId })
    return orDoubt(rows?.[0])
  }

  async outcome(callId: CallId): Promise<Task | undefined> {
    const outcome = await this.#devices.outcome(this.#place, callId)
    if (outcome === "not-applied") return undefined
    return orDoubt(outcome.row ?? outcome.rows?.[0])
  }

  get #place(): DevicePlace {
    const { user, conversation, deviceId } = this.#asked
    return { user, conversation, deviceId, offer: "workspace" }
  }

  #read(call: Omit<DeviceCall, "callId">): Promise<CallOutcome> {
    const { callId, signal } = this.#asked
    return this.#devices.call(this.#place, { ...call, table: TABLE, callId }, { effect: "read", signal })
  }

  #write(call: DeviceCall): Promise<CallOutcome> {
    return this.#devices.call(this.#place, { ...call, table: TABLE }, { effect: "write", signal: this.#asked.signal })
  }
}

function orComplain<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new Error(`the device's answer cannot be read: ${parsed.error.issues[0]?.message ?? "it is odd"}`)
}

/** The device has answered a write, but not with what it has done: it may have been done. */
function orDoubt(row: unknown): Task {
  const parsed = DeviceTask.safeParse(row)
  if (parsed.success) return parsed.data
  throw failure("outcome_unknown", { problem: "The device answered, but its answer does not say what it has done." })
}
