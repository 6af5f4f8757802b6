import type { NewEvent } from "../../protocol/events.ts"
import type { Diff } from "../../protocol/proposals/proposal.ts"
import type { Pause } from "../../shared/concurrency/time-limit.ts"
import { mendText, toStorableJson } from "../../shared/text/text.ts"
import { zoneOf } from "../ask/person-context.ts"
import { type Call, type Conversation, isServerRun, openCalls, taintOf } from "../conversation.ts"
import { onlyUndoes } from "../definition/agent.ts"
import { type Answer, type CallContext, isAnswer, type SiblingCall, type Tool } from "../definition/tool.ts"
import { DEVICE_GRACE_SECONDS, DEVICE_STATUS_SECONDS, deviceSeconds } from "../devices.ts"
import { currentModel } from "../fallback.ts"
import type { Work } from "../record.ts"
import { lastingCall, liveProgress } from "./lasting-call.ts"
import { modelForTool } from "./model-for-tool.ts"
import { didYouMean, readInput } from "./read-input.ts"
import { parseWithoutSecrets, toolEnd, withoutSecrets } from "./tool-end.ts"

const MAX_OUTPUT = 50_000
const MAX_DATA = 1_000_000
const MAX_ERROR = 2_000
const MAX_NAME = 100

export const TOOL_SECONDS = 30

type ReadTaint = "untrusted" | "folder"

/** The taint of calls that have read stored text marked as untrusted, for any tool. */
const taints = new WeakMap<Call, ReadTaint>()

export function noteTaint(call: Call, taint: ReadTaint): void {
  if (taints.get(call) !== "untrusted") taints.set(call, taint)
}

export const taintReadBy = (call: Call): ReadTaint | undefined => taints.get(call)

/**
 * How long a call may take. On a device the device client has its own limit: it also asks what became of a write and
 * waits for a reconnect, which must come first.
 */
export function secondsFor({ conversation }: Work, { onSite, timeoutSeconds }: Tool): number {
  if (!onSite || conversation.site !== "device") return timeoutSeconds ?? TOOL_SECONDS
  return deviceSeconds(timeoutSeconds) + DEVICE_STATUS_SECONDS + DEVICE_GRACE_SECONDS
}

type ToolEnd = Extract<NewEvent, { type: "tool_end" }>

export interface CheckedCall {
  readonly tool: Tool
  /** The arguments as parsed by the tool's schema. */
  readonly input: unknown
  /** The arguments before parsing: the call's own, or corrected. A person sees and approves these. */
  readonly given: Call["input"]
}

/** Returns a call's tool and arguments, or a result that tells the model what is wrong. */
export async function checkCall(work: Work, call: Call): Promise<CheckedCall | { end: ToolEnd }> {
  const { conversation, agent, ports } = work
  const error = (text: string) => ({
    end: toolEnd(conversation, call, { status: "error", text, now: ports.clock.now() }),
  })
  const tool = agent.tools.find(call.name)
  if (!tool || (onlyUndoes(tool) && !(conversation.run && isServerRun(conversation.run)))) {
    const { mode } = conversation
    const names = [...agent.tools.visibleIn(mode), ...agent.tools.joinedIn(mode)].map(({ name }) => name)
    const name = call.name.slice(0, MAX_NAME)
    return error(
      `There is no tool "${name}".${didYouMean(call.name, names)} The tools are: ${names.join(", ") || "none"}.`,
    )
  }
  if (call.invalidInput !== undefined) {
    return error(
      `The arguments of ${call.name} were not a JSON object, or too large: ${call.invalidInput.slice(0, 200)} Send an object.`,
    )
  }
  try {
    const read = await readInput(tool, call.input)
    if (!("problem" in read)) return { tool, input: read.value, given: read.given }
    const problem = read.problem.slice(0, MAX_ERROR)
    return error(`The arguments of ${call.name} do not fit: ${problem}. Mend them and call again.`)
  } catch (thrown) {
    return { end: threw(work, call, { error: thrown }) }
  }
}

/** The limits of a call, from its caller. Without `pause` it cannot outlast them. */
interface Bounding {
  readonly signal: () => AbortSignal
  readonly pause?: Pause
}

export function contextFor(work: Work, call: Call, { signal, pause }: Bounding): CallContext {
  const { conversation, ports } = work
  const agreed = call.proposal && conversation.proposals.get(call.proposal)?.proposed
  return {
    user: conversation.user,
    conversation: conversation.id,
    callId: call.id,
    site: conversation.site,
    deviceId: conversation.deviceId,
    connectionId: conversation.connectionId,
    get signal() {
      return signal()
    },
    now: ports.clock.now(),
    timeZone: zoneOf(conversation, ports.timeZone),
    calledAt: call.at,
    ...(agreed ? { approved: agreed } : {}),
    get siblings() {
      return siblingsOf(work, call)
    },
    state: conversation.state,
    taint: taintOf(conversation),
    noteTaint: (taint) => noteTaint(call, taint),
    progress: liveProgress(work, call),
    model: async () => modelForTool(work, call, await currentModel(work)),
    get lasting() {
      return pause && lastingCall(work, call, { signal: signal(), pause })
    },
  }
}

/** Returns the result for a tool's answer, bounded and storable. */
export function answered(
  { conversation, ports }: Pick<Work, "conversation" | "ports">,
  call: Call,
  { tool, answer }: { tool: Tool; answer: Answer },
): ToolEnd {
  const { secrets = [] } = ports
  const now = ports.clock.now()
  if (!isAnswer(answer)) {
    return toolEnd(conversation, call, {
      status: "error",
      text: `${tool.name} gave no answer; this is a defect of the tool.`,
      now,
    })
  }
  // The call has had its effect, so excess text is dropped and the rest reported.
  const state = toObject(answer.state, secrets)
  const notice = answer.state === undefined || state ? "" : "\n[What it adds to the state could not be kept.]"
  const text = bounded(withoutSecrets(answer.text, secrets), tool) + notice
  const end = toolEnd(conversation, call, { status: answer.status, text, now })
  const brings = withTaintRead(resultTaint(tool, answer.taint), call)
  if (brings) end.brings = brings
  if (answer.data !== undefined) end.data = boundedData(answer.data, secrets)
  if (state) end.state = state
  return end
}

/** Returns the result for a thrown error. The model gets the error, and the run continues. */
export function threw(
  { conversation, ports }: Pick<Work, "conversation" | "ports">,
  call: Call,
  { error, tool }: Thrown,
): ToolEnd {
  const { secrets = [], clock } = ports
  const text = `${call.name} failed: ${withoutSecrets(toMessage(error), secrets).slice(0, MAX_ERROR)}`
  const end = toolEnd(conversation, call, { status: "error", text, now: clock.now() })
  const brings = withTaintRead(resultTaint(tool), call)
  if (brings) end.brings = brings
  return end
}

interface Thrown {
  readonly error: unknown
  readonly tool?: Tool
}

/** Errors are included, because their text may quote what the tool has read. */
function resultTaint(tool: Tool | undefined, more?: Answer["taint"]): ToolEnd["brings"] {
  const always = toRecorded(tool?.taint)
  if (more !== "private" && more !== "untrusted" && more !== "folder") return always
  return together(always, toRecorded(more))
}

/** Journals call untrusted text `outside`. */
function toRecorded<Other extends string | undefined>(
  taint: Other | "untrusted",
): Exclude<Other, "untrusted"> | "outside" {
  return taint === "untrusted" ? "outside" : (taint as Exclude<Other, "untrusted">)
}

function withTaintRead(brings: ToolEnd["brings"], call: Call): ToolEnd["brings"] {
  const taint = taintReadBy(call)
  if (taint === undefined) return brings
  return together(brings, taint === "folder" ? "folder" : "outside")
}

function together(one: ToolEnd["brings"], other: NonNullable<ToolEnd["brings"]>): ToolEnd["brings"] {
  if (one === undefined || one === other) return other
  // Files of the folder are private as well.
  const both = new Set([one, other])
  return both.has("folder") && both.has("private") ? "folder" : "both"
}

function toMessage(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return "it threw something that cannot be read"
  }
}

function bounded(text: string, tool: Tool): string {
  const limit = tool.maxOutput ?? MAX_OUTPUT
  if (text.length <= limit) return mendText(text)
  const notice = `\n[Cut: the first ${limit} of ${text.length} characters. Ask for less, or for a part.]`
  return mendText(text.slice(0, limit)) + notice
}

/** Returns a copy of a result's data, or a mark if it is too large. */
function boundedData(data: unknown, secrets: Iterable<string> = []): unknown {
  const json = toJson(data)
  if (json === undefined) return { unreadable: true }
  return json.length <= MAX_DATA ? parseWithoutSecrets(json, secrets) : { truncated: true, characters: json.length }
}

export const boundedDiff = ({ before, after }: Diff, secrets: Iterable<string> = []): Diff => ({
  before: boundedData(before, secrets),
  after: boundedData(after, secrets),
})

/** Returns a storable copy of an object from a tool; undefined if it is not an object. */
export function toObject(value: unknown, secrets: Iterable<string> = []): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  const json = toJson(value)
  if (json === undefined || json.length > MAX_DATA) return undefined
  return parseWithoutSecrets(json, secrets) as Record<string, unknown>
}

/** Undefined if there is no JSON for it: a cycle, a BigInt, a getter that throws, endless depth. */
function toJson(value: unknown): string | undefined {
  try {
    return toStorableJson(value)
  } catch {
    return undefined
  }
}

/**
 * The other writes of the same reply. Applied ones come first, in the order in which they ran. One that was applied
 * before this call was proposed is `over`, because the preview has seen its result.
 */
function siblingsOf({ conversation, agent }: Pick<Work, "conversation" | "agent">, call: Call): SiblingCall[] {
  const { calls } = conversation
  const place = calls.indexOf(call)
  const open = new Set(openCalls(conversation))
  const siblings = calls.flatMap((other, index) => {
    if (other === call || other.duplicateOf || agent.tools.find(other.name)?.effect !== "write") return []
    const state = isApplied(conversation, call, other)
      ? "applied"
      : open.has(other) && !isBegun(other)
        ? "planned"
        : "over"
    const sibling: SiblingCall = { tool: other.name, input: other.input, isBefore: index < place, state }
    return [{ sibling, at: state === "applied" ? other.startedAt : Number.POSITIVE_INFINITY }]
  })
  return siblings.toSorted((a, b) => (a.at === b.at ? 0 : a.at - b.at)).map(({ sibling }) => sibling)
}

const isBegun = ({ state }: Call) => state === "started" || state === "in_doubt"

function isApplied({ proposals, run }: Conversation, { proposal }: Call, other: Call): boolean {
  const shown = proposal && proposals.get(proposal)
  const end = other.state === "ended" && run?.toolHistory.find(({ callId }) => callId === other.id)
  return shown !== undefined && end !== false && end?.status === "ok" && other.startedAt >= shown.createdAt
}
