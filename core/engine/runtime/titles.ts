import { codeOf } from "../../protocol/errors.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import type { RecordedModelCall } from "../../protocol/conversation/stages.ts"
import { accounted, estimateOf } from "../ask/ask-decision.ts"
import { Reply, streamReply } from "../ask/reply.ts"
import { titleFromReply, titleRequest } from "../ask/title.ts"
import { withTimeLimit } from "../../shared/concurrency/time-limit.ts"
import type { Conversation } from "../conversation.ts"
import { messageText } from "../history/history.ts"
import { digestAside } from "../history/request-digest.ts"
import { estimateTokens } from "../history/tokens.ts"
import type { Input } from "../input.ts"
import type { Model, ModelRequest } from "../model.ts"
import type { Ports, Reservation } from "../ports.ts"

const SECONDS = 30

/**
 * Asks a small model for the title of a conversation, once, after its first answer. The conversation is released by
 * then. The process that recorded the answer asks, so that no two nodes do. If it dies in between, the title stays as
 * it was.
 */
export class Titles {
  readonly #ports: Ports
  readonly #closing: AbortSignal
  readonly #submit: (id: ConversationId, input: Input) => Promise<unknown>
  readonly #open = new Set<Promise<void>>()

  constructor(ports: Ports, closing: AbortSignal, submit: (id: ConversationId, input: Input) => Promise<unknown>) {
    this.#ports = ports
    this.#closing = closing
    this.#submit = submit
  }

  /** Works on a conversation, and checks whether it got its first answer. */
  async after(id: ConversationId, work: () => Promise<void>): Promise<void> {
    const { titleModel, journal } = this.#ports
    if (titleModel === undefined) return work()
    const { firstAnswer } = await journal.load(id)
    await work()
    const conversation = firstAnswer === undefined ? await journal.load(id) : undefined
    if (conversation?.firstAnswer === undefined || conversation.titled || this.#closing.aborted) return
    const made = this.#make(conversation, titleModel).catch((error: unknown) => {
      // Stopped by the shutdown itself: otherwise `pawl exec` would end each answer with a confusing warning.
      if (this.#closing.aborted) return
      // A missing title is logged and has no other effect, because there is one already.
      this.#ports.log.warn("title_failed", { conversation: id, error: codeOf(error) ?? error })
    })
    this.#open.add(made)
    void made.finally(() => this.#open.delete(made))
  }

  /** Resolves when no request is in progress. */
  async idle(): Promise<void> {
    await Promise.all(this.#open)
  }

  async #make(conversation: Conversation, name: string): Promise<void> {
    const { models, budget, clock } = this.#ports
    const { id, user, run } = conversation
    const request = titleRequest(conversation)
    const model = await models.get(name, user)
    const inputTokens = estimateTokens(JSON.stringify(request))
    // With an id of its own: the conversation may be asking its model again, and each has one reservation.
    const plan = run && { conversation: `title_of_${id}` as ConversationId, run: run.id, user, model, inputTokens }
    const reservation = plan && (await budget?.reserve(plan))
    const reply = new Reply(model.name, user, clock)
    try {
      await this.#ask({ model, request, reply })
      const title = titleFromReply(messageText(reply.parts))
      const titledBy = toAsked(model, request, { reply, reservation })
      await this.#submit(id, { type: "settings", ...(title ? { title } : {}), titledBy })
    } catch (error) {
      // Recorded on the bill only. Providers do not charge for an error before the first token.
      const spent = reservation && reply.offset > 0 ? estimateOf(reservation, reply) : undefined
      if (reservation && spent) await budget?.settle({ ...reservation, conversation: id }, spent)
      throw error
    } finally {
      // After its cost is recorded. In between it counts twice, so that the limit cannot be exceeded.
      if (reservation) await budget?.settle(reservation)
    }
  }

  async #ask({ model, request, reply }: { model: Model; request: ModelRequest; reply: Reply }): Promise<void> {
    const bounds = { clock: this.#ports.clock, seconds: SECONDS, signal: this.#closing, graceMs: 0 }
    const ended = await withTimeLimit<unknown>(bounds, (inner) =>
      streamReply({ model, request, signal: inner() }, (part) => void reply.add(part)),
    )
    if (ended.type === "returned") return
    if (ended.type === "threw") throw ended.error
    ended.rest.catch(() => {}) // the result comes too late
    throw new Error(`no title came within ${SECONDS} s`)
  }
}

function toAsked(
  model: Model,
  request: ModelRequest,
  { reply, reservation }: { readonly reply: Reply; readonly reservation: Reservation | undefined },
): RecordedModelCall {
  const usage = accounted(model, reply.usage, reservation)
  return { model: model.name, ...digestAside(request), tries: 1, ...(usage ? { usage } : {}) }
}
