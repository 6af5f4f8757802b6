import type { Context } from "hono"
import { readChat, readResponse } from "./requests.ts"
import { type AnswerHead, ChatAnswer } from "./chat.ts"
import { readModelName, toModels } from "./model-names.ts"
import { ResponseAnswer } from "./responses.ts"
import {
  type ChatCompletion,
  type ChatCompletionRequest,
  type Env,
  hasIdempotencyKey,
  keepAliveOf,
  type OpenAiModel,
  type OpenAiModels,
  registerStream,
  type ResponseAnswered,
  type ResponseRequest,
  type ServerPorts,
  STREAM_HEADERS,
  toTextStream,
  type Translation,
  userOf,
} from "../../core/adapter.ts"
import { AppError, codeOf, failure } from "../../core/protocol/index.ts"
import { type OpenedRun, openRun } from "./send-message.ts"

export async function listModels(c: Context<Env>, { agents, models, embedder }: ServerPorts): Promise<OpenAiModels> {
  const user = userOf(c)
  const { items } = (await models.look?.(user, {})) ?? { items: await models.list(user) }
  return toModels({ agents: agents.all.map(({ name }) => name), models: items, embedder })
}

export async function readModel(c: Context<Env>, ports: ServerPorts): Promise<OpenAiModel> {
  const id = c.req.param("id")
  const found = (await listModels(c, ports)).data.find((model) => model.id === id)
  if (!found) throw failure("not_found")
  return found
}

export async function answerChat(
  c: Context<Env>,
  ports: ServerPorts,
  body: ChatCompletionRequest,
): Promise<ChatCompletion | Response> {
  const request = readChat(body)
  const named = readModelName(body.model)
  const conversation = c.req.header("x-pawl-conversation")
  const run = await openRun(c, ports, { asked: request, named, body, conversation })
  const head = headOf(ports, { run, model: body.model, hasToFit: request.schema !== undefined })
  const answer = new ChatAnswer(head, { tellsUsage: body.stream_options?.include_usage ?? false })
  if (body.stream) return streamAnswer(c, ports, { run, answer })
  await collect(c, ports, { run, answer })
  return answer.toCompletion()
}

export async function answerResponse(
  c: Context<Env>,
  ports: ServerPorts,
  body: ResponseRequest,
): Promise<ResponseAnswered | Response> {
  const request = readResponse(body)
  const named = readModelName(body.model)
  const { after } = request
  const conversation = request.conversation ?? (after ? undefined : c.req.header("x-pawl-conversation"))
  const run = await openRun(c, ports, { asked: request, named, body, conversation, after })
  const head = headOf(ports, { run, model: body.model, hasToFit: request.schema !== undefined })
  const answer = new ResponseAnswer(head, body)
  if (body.stream) return streamAnswer(c, ports, { run, answer })
  await (body.background ? collectStart(run, answer) : collect(c, ports, { run, answer }))
  return answer.toResponse()
}

interface Heading {
  readonly run: OpenedRun
  readonly model: string
  readonly hasToFit: boolean
}

function headOf(ports: ServerPorts, { run: { id, part }, model, hasToFit }: Heading): AnswerHead {
  return { model, conversation: id, created: secondsOf(ports), hasToFit, ...(part === undefined ? {} : { part }) }
}

const secondsOf = ({ clock }: ServerPorts): number => Math.floor(clock.now() / 1000)

interface Answering {
  readonly run: OpenedRun
  readonly answer: Translation & { readonly failed: { readonly code: string; readonly message: string } | undefined }
}

/** The run continues if the client disconnects, and its answer can be requested again. */
function streamAnswer(c: Context<Env>, ports: ServerPorts, { run, answer }: Answering): Response {
  const source = registerStream(c.get("caller"), ports, run.frames)
  return c.body(toTextStream(source, answer, keepAliveOf(ports.clock)), 200, STREAM_HEADERS)
}

/** Reads until the run has started, which gives the response its id. The run continues by itself. */
async function collectStart({ frames }: OpenedRun, answer: ResponseAnswer): Promise<void> {
  try {
    for (let started = false; !started;) {
      const read = await frames.next()
      if (!read) throw failure("draining")
      started = read.flatMap((frame) => answer.translate(frame)).length > 0
    }
  } finally {
    frames.close()
  }
}

/** Waits for the whole answer. Throws the run's error. */
async function collect(c: Context<Env>, ports: ServerPorts, { run, answer }: Answering): Promise<void> {
  const source = registerStream(c.get("caller"), ports, run.frames)
  const hangUp = () => source.close()
  const { signal } = c.req.raw
  signal.addEventListener("abort", hangUp, { once: true })
  if (signal.aborted) hangUp()
  try {
    while (!answer.isOver) {
      const frames = await source.next()
      if (!frames) break
      for (const frame of frames) answer.translate(frame)
    }
  } finally {
    signal.removeEventListener("abort", hangUp)
    source.close()
  }
  if (answer.isOver && !answer.failed) return
  // The run was started or continues: clients retry such statuses automatically, which would start another one. With a key a
  // retry gets the running one's answer.
  if (answer.failed || !hasIdempotencyKey(c)) c.header("x-should-retry", "false")
  if (!answer.failed) throw failure("draining")
  const { message } = answer.failed
  throw new AppError(codeOf(answer.failed) ?? "internal", message)
}
