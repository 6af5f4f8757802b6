import type { Context } from "hono"
import {
  actorOf,
  type CompactedResponse,
  type CompactRequest,
  type Env,
  estimateFileTokens,
  estimateRequest,
  estimateTokens,
  type InputTokens,
  type InputTokensRequest,
  type ServerPorts,
  userOf,
  waitForEvent,
} from "../../core/adapter.ts"
import { AppError, codeOf, type EventOf, failure, NO_SUMMARY } from "../../core/protocol/index.ts"
import { type ContentFile, problem } from "./content.ts"
import { readModelName } from "./model-names.ts"
import { readResponse, readResponseId } from "./requests.ts"
import { findNamed, newestRunAfter, requireFit } from "./send-message.ts"

/** Estimates the tokens of the request that such a response would send to the model. */
export async function countInputTokens(
  c: Context<Env>,
  ports: ServerPorts,
  body: InputTokensRequest,
): Promise<InputTokens> {
  const request = readResponse({ ...body, input: body.input ?? "" })
  const { agent } = readModelName(body.model)
  const found = await findNamed(c, ports, { conversation: request.conversation, after: request.after })
  if (found) requireFit(found, { agent, mode: undefined })
  const texts = [
    ...[request.words ?? "", ...request.instructions, ...request.before.lines],
    ...request.outputs.map(({ text }) => text),
    ...[...request.functions, ...(request.schema ? [request.schema] : [])].map((each) => JSON.stringify(each)),
  ].filter((text) => text !== "")
  const files = await Promise.all([...request.before.files, ...request.files].map((file) => tokensOf(c, ports, file)))
  const known = await estimateRequest(ports, userOf(c), { agent, id: found?.id })
  const input_tokens = [...texts.map(estimateTokens), ...files].reduce((sum, tokens) => sum + tokens, known)
  if (request.ignored.length > 0) c.header("x-pawl-ignored", request.ignored.join(", "))
  return { object: "response.input_tokens", input_tokens }
}

async function tokensOf(c: Context<Env>, { messageFiles }: ServerPorts, file: ContentFile): Promise<number> {
  if (file.type === "bytes") return estimateFileTokens({ type: file.mediaType, size: file.bytes.length })
  const uploaded = await messageFiles.find(userOf(c), file.id)
  if (!uploaded) throw failure("not_found")
  return estimateFileTokens(uploaded)
}

/**
 * Summarizes the conversation of a response. The summary stays in the conversation: the item of the answer only refers to
 * it.
 */
export async function compactResponse(
  c: Context<Env>,
  ports: ServerPorts,
  body: CompactRequest,
): Promise<CompactedResponse> {
  const { input, instructions, previous_response_id: previous } = body
  if (input?.length) throw problem("input: only stored conversations are compacted; send previous_response_id")
  if (instructions) throw problem("instructions: a summary follows those of Pawl; omit it")
  if (!previous) throw problem("previous_response_id: it is missing")
  const named = readModelName(body.model)
  const { run } = readResponseId(previous)
  const found = await findNamed(c, ports, { conversation: undefined, after: run })
  if (!found) throw failure("not_found")
  requireFit(found, { agent: named.agent, mode: undefined })
  if (named.model !== undefined && named.model !== found.model)
    throw problem(`model: the conversation's own model writes the summary; send pawl/${named.agent}`)
  if (!(await newestRunAfter(ports, found.id, run)))
    throw problem("previous_response_id: the conversation has newer messages; send its newest response")
  const outcome = await summarize(c, ports, found)
  const ignored = Object.keys(body).filter((name) => name.startsWith("prompt_cache"))
  if (ignored.length > 0) c.header("x-pawl-ignored", ignored.join(", "))
  return {
    ...{ id: previous, object: "response.compaction", created_at: Math.floor(ports.clock.now() / 1000) },
    output: [{ id: `cmp_${found.id.slice("conv_".length)}`, type: "compaction", encrypted_content: found.id }],
    usage: toUsage(outcome),
  }
}

type Compacted = EventOf<"compaction">

/** Waits for the summary. A conversation that is too short for one stays as it is. */
async function summarize(
  c: Context<Env>,
  ports: ServerPorts,
  found: Parameters<typeof waitForEvent>[1],
): Promise<Compacted> {
  let outcome: Compacted | undefined
  using watching = waitForEvent(ports, found, (event) => {
    if (event.type !== "compaction" || (event.what !== "summary" && event.what !== "failed")) return false
    outcome ??= event
    return true
  })
  await ports.runtime.submit(found.id, { type: "compact", ...actorOf(c) })
  await watching.over()
  const { what, problem: reason = "" } = outcome ?? {}
  if (!outcome) throw failure("draining")
  if (what === "failed" && reason === NO_SUMMARY.off) throw problem("summaries are turned off on this server")
  if (what === "failed" && reason !== NO_SUMMARY.nothing)
    throw new AppError(codeOf({ code: reason }) ?? "provider_error", `No summary was written: ${reason}.`)
  return outcome
}

function toUsage({ asked }: Compacted): CompactedResponse["usage"] {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens } = asked?.usage ?? {}
  const [input_tokens, output_tokens] = [inputTokens ?? 0, outputTokens ?? 0]
  return {
    ...{ input_tokens, input_tokens_details: { cached_tokens: cachedTokens ?? 0 } },
    ...{ output_tokens, output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 } },
    total_tokens: input_tokens + output_tokens,
  }
}
