import type { Model } from "../../core/engine/model.ts"
import {
  askWithoutEffects,
  callsAgree,
  type DryReply,
  type RebuiltRequest,
  type ComparedReply,
  toComparedReply,
} from "../../core/engine/rebuild/rebuild-requests.ts"
import type { UserId } from "../../core/protocol/ids.ts"

/** A request, its recorded reply, and the reply of another model. */
export interface DryAnswer {
  readonly position: number
  readonly then: ComparedReply & { readonly model: string }
  readonly now: DryReply
  readonly agree: boolean
}

/** Sends the requests of a run to another model, one after the other, until it calls other tools. */
export class DryRun {
  readonly model: Model
  readonly answers: DryAnswer[] = []
  /** The request whose answer has other calls. The recorded results after it do not fit any more. */
  parted: number | undefined
  readonly #user: UserId

  constructor(model: Model, user: UserId) {
    this.model = model
    this.#user = user
  }

  /** In dollars; null if a price or a count is unknown. */
  get cost(): number | null {
    return this.answers.reduce<number | null>((sum, { now }) => {
      const cost = now.usage?.cost
      return sum === null || cost === undefined || cost === null ? null : sum + cost
    }, 0)
  }

  readonly look = async ({ position, reply, request }: RebuiltRequest): Promise<"stop" | "continue"> => {
    if (!request) return "continue"
    const then = { ...toComparedReply(reply.parts), model: reply.model ?? "" }
    const now = await askWithoutEffects(this.model, request, { user: this.#user, signal: new AbortController().signal })
    const agree = callsAgree(then, now)
    this.answers.push({ position, then, now, agree })
    if (!agree) this.parted = position
    return agree ? "continue" : "stop"
  }
}
