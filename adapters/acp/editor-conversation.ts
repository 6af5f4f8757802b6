import type { PromptResponse, SessionUpdate } from "@agentclientprotocol/sdk"
import { toKnownFrame } from "../../client/is-frame.ts"
import { readPages } from "../../client/read-pages.ts"
import { reduce } from "../../client/reduce.ts"
import { emptyTranscript, type Transcript } from "../../client/transcript/transcript.ts"
import { whyAutoAsks, workFilesOf } from "../../client/work-files.ts"
import type { MessageFile } from "../../core/protocol/conversation/message.ts"
import { parseCursor } from "../../core/protocol/cursor.ts"
import { hasCode } from "../../core/protocol/errors.ts"
import type { UnknownFrame } from "../../core/protocol/frames.ts"
import type { ConnectedEditor } from "./connected-editor.ts"
import { modelOption } from "./model-option.ts"
import type { EditorPlace } from "./place.ts"
import type { AlongFile, PromptContent } from "./prompt-content.ts"
import { Questions } from "./questions.ts"
import { refuseRequest, toRefusal } from "./refusal.ts"
import { ToUpdates } from "./to-updates.ts"
import { PromptTurn } from "./prompt-turn.ts"

/** Of the path of a file in a message, in characters. */
const MAX_PATH = 4096

export interface OpenEditorConversation {
  readonly id: string
  readonly place: EditorPlace
  readonly editor: ConnectedEditor
  /** What is there already: up to it the editor is only told, and asked nothing. */
  readonly position: number
  /** What is known of it, where the editor does not want to be told of it again; otherwise all of it is told. */
  readonly known?: Transcript
}

/** A conversation that an editor has open: its journal as updates, its proposals as questions, prompts as messages. */
export class EditorConversation {
  readonly id: string
  readonly place: EditorPlace
  /** The editor has been told all that was there when it was opened. */
  readonly told: Promise<void>
  transcript: Transcript
  readonly #editor: ConnectedEditor
  readonly #updates: ToUpdates
  readonly #questions: Questions
  readonly #leaving = new AbortController()
  #turn: PromptTurn | undefined
  #isLive = false
  /** Why nothing more is heard of it, where that is so: whoever opens it again may have more luck. */
  #lost: Error | undefined

  constructor({ id, place, editor, position, known = emptyTranscript }: OpenEditorConversation) {
    const { client, dir: root } = place
    this.id = id
    this.place = place
    this.transcript = known
    this.#editor = editor
    this.#updates = new ToUpdates({ root, notices: editor.can.notices })
    const cancelled = () => this.cancel()
    const complain = (error: unknown) => void this.say(toRefusal(error).message).catch(() => {})
    this.#questions = new Questions({ client, editor, id, root, cancelled, complain })
    const told = Promise.withResolvers<void>()
    this.told = told.promise
    // Of one that has just begun nobody waits for it: the next prompt is told.
    this.told.catch(() => {})
    this.#follow(position, told.resolve).catch((error: unknown) => {
      this.#lost = toRefusal(error)
      this.#turn?.fail(this.#lost)
      this.close()
      told.reject(this.#lost)
    })
  }

  /** Stops telling the editor of it; what is at work goes on. Of a prompt nothing more is heard, so it is answered now. */
  close(): void {
    this.#leaving.abort()
    this.#questions.close()
    this.#turn?.end("cancelled")
  }

  get isBusy(): boolean {
    return this.transcript.status === "running" || this.transcript.status === "awaiting_confirmation"
  }

  /** Says something, and answers when the run that it begins has ended, or was stopped. */
  async prompt({ text, files: along }: PromptContent, signal: AbortSignal): Promise<PromptResponse> {
    const { client } = this.place
    if (text.trim() === "" && along.length === 0) throw refuseRequest("The prompt says nothing.")
    return this.take(PromptTurn.of(text), signal, async () => {
      const files = await this.#upload(along)
      const why = files.length > 0 ? whyAutoAsks(files) : undefined
      if (why !== undefined && (await client.readConversation({ params: { id: this.id } })).mode === "auto")
        await this.say(why)
      const ids = files.map(({ id }) => id)
      const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
      const said = { when: "queue" as const, timeZone, signal: this.#leaving.signal }
      // With the first frame the words are safe; the rest comes with the conversation.
      for await (const _first of client.run(this.id, text, {
        ...said,
        ...(ids.length > 0 ? { files: ids, ...workFilesOf(files) } : {}),
      }))
        break
    })
  }

  /** The files of a prompt, each with its path if all that it holds is of the work folder. */
  async #upload(along: readonly AlongFile[]): Promise<MessageFile[]> {
    const files = new Map<string, MessageFile>()
    for (const { name, bytes, paths } of along) {
      const file = await this.place.client.uploadFile({ file: new Uint8Array(bytes), query: { name } })
      const places = await Promise.all(paths.map((path) => this.place.workFile(path)))
      const known = places.filter((place) => place !== undefined)
      const isOfFolder = known.length > 0 && known.length === places.length
      // The same bytes from outside of the folder are one file with those from inside.
      if (!isOfFolder) files.set(file.id, file)
      else if (!files.has(file.id)) {
        const folder = known.every(({ trusted }) => trusted) ? "trusted" : "untrusted"
        files.set(file.id, {
          ...file,
          path: known
            .map(({ path }) => path)
            .join(", ")
            .slice(0, MAX_PATH),
          folder,
        })
      }
    }
    return [...files.values()]
  }

  /** Sets a run going, and answers with its end. One at a time: the protocol has one turn. */
  async take(turn: PromptTurn, signal: AbortSignal, begin: () => Promise<unknown>): Promise<PromptResponse> {
    if (this.#lost) throw this.#lost
    if (this.#turn)
      throw refuseRequest("This conversation is answering a prompt: wait for its answer, or cancel it first.")
    this.#turn = turn
    const stop = () => this.#editor.isGone || void this.cancel().catch((error: unknown) => turn.fail(toRefusal(error)))
    signal.addEventListener("abort", stop, { once: true })
    try {
      begin().catch((error: unknown) => turn.fail(toRefusal(error)))
      return { stopReason: await turn.ended }
    } finally {
      signal.removeEventListener("abort", stop)
      this.#turn = undefined
    }
  }

  async cancel(): Promise<void> {
    const turn = this.#turn
    if (turn) turn.isCancelled = true
    await this.place.client.cancelRun({ params: { id: this.id } })
    if (turn && !turn.hasBegun) await this.#withdraw(turn)
  }

  /** Tells the editor something that is not of the conversation. */
  async say(text: string): Promise<void> {
    await this.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${text}\n\n` } })
  }

  async update(update: SessionUpdate): Promise<void> {
    await this.#editor.update(this.id, update)
  }

  /** Which models there are, where the editor lets its person choose. */
  async tellModels(): Promise<void> {
    const configOptions = await modelOption(this.place.client, this.transcript.model)
    if (configOptions.length > 0) await this.update({ sessionUpdate: "config_option_update", configOptions })
  }

  /** How full it is for its model, and what it has cost so far, where both are known. */
  async #tellUsage(): Promise<void> {
    const { context } = await this.place.client.readConversation({ params: { id: this.id } })
    const { usedTokens: used, limitTokens: size, costUsd } = context ?? {}
    if (typeof used !== "number" || typeof size !== "number") return
    const cost = typeof costUsd === "number" ? { cost: { amount: costUsd, currency: "USD" } } : {}
    await this.update({ sessionUpdate: "usage_update", used, size, ...cost })
  }

  /** Words that wait behind a run which was stopped would be held, and their prompt with them. What others said stays. */
  async #withdraw(turn: PromptTurn): Promise<void> {
    const { client } = this.place
    const items = await readPages((query) => client.listQueue({ params: { id: this.id }, query }))
    const last = items.findLast(({ text }) => text === turn.words)
    if (!last || turn.hasBegun) return
    try {
      await client.withdrawQueued({ params: { id: this.id, messageId: last.id } })
      turn.end("cancelled")
    } catch (error) {
      // It has just been taken: its run is stopped as soon as it is seen to begin.
      if (!hasCode(error, "message_taken") && !hasCode(error, "not_found")) throw error
    }
  }

  async #follow(position: number, told: () => void): Promise<void> {
    const { signal } = this.#leaving
    const isTold = () => (parseCursor(this.transcript.cursor)?.position ?? 0) >= position
    if (isTold()) this.#meet(told)
    try {
      for await (const frame of this.place.client.events(this.id, { after: this.transcript.cursor, signal })) {
        const { title: previous } = this.transcript
        this.transcript = reduce(this.transcript, frame)
        await this.#tell(frame)
        const { title } = this.transcript
        if (title !== previous) await this.update({ sessionUpdate: "session_info_update", title })
        if (isTold()) this.#meet(told)
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /** From here on it is live. */
  #meet(told: () => void): void {
    told()
    this.#isLive = true
    this.#questions.follow(this.transcript)
  }

  async #tell(frame: UnknownFrame): Promise<void> {
    const known = toKnownFrame(frame)
    if (!known) return
    const turn = this.#turn
    const isOwn = turn?.takes(known) ?? false
    for (const update of this.#updates.of(known, { isOwn, isAwaited: turn?.hasBegun ?? false }))
      await this.update(update)
    if (known.type === "run_ended" && this.#isLive) await this.#tellUsage().catch(() => {})
    turn?.follow(known)
    if (known.type === "settings" && known.data.model !== undefined) await this.tellModels().catch(() => {})
    if (isOwn && turn?.isCancelled) await this.place.client.cancelRun({ params: { id: this.id } })
  }
}
