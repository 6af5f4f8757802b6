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
import type { ConnectedEditor, EditorFolder } from "./editor.ts"
import { modelOption } from "./session-options.ts"
import type { AttachedFile, PromptContent } from "./prompt-content.ts"
import { Questions } from "./questions.ts"
import { refuseRequest, toRefusal } from "./refusal.ts"
import { ToUpdates } from "./to-updates.ts"
import { PromptTurn } from "./prompt-turn.ts"

/** Most characters of a file's path in a message. */
const MAX_PATH = 4096

interface OpenEditorConversation {
  readonly id: string
  readonly place: EditorFolder
  readonly editor: ConnectedEditor
  /** The position when it was opened: events up to it are only sent, and ask nothing. */
  readonly position: number
  /** The transcript, if the editor does not want the history again. */
  readonly known?: Transcript
}

/** A conversation that an editor has open: events become updates, proposals become questions, prompts become messages. */
export class EditorConversation {
  readonly id: string
  readonly place: EditorFolder
  /** Resolves when the history is sent. */
  readonly told: Promise<void>
  transcript: Transcript
  readonly #editor: ConnectedEditor
  readonly #updates: ToUpdates
  readonly #questions: Questions
  readonly #leaving = new AbortController()
  #turn: PromptTurn | undefined
  #isLive = false
  /** Why events are no longer received; opening the conversation again may help. */
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
    const listed = Promise.withResolvers<void>()
    this.told = listed.promise
    // For a new conversation it is not awaited: the next prompt reports the error.
    this.told.catch(() => {})
    this.#follow(position, listed.resolve).catch((error: unknown) => {
      this.#lost = toRefusal(error)
      this.#turn?.fail(this.#lost)
      this.close()
      listed.reject(this.#lost)
    })
  }

  /** Stops sending updates; a run continues. An open prompt is answered now. */
  close(): void {
    this.#leaving.abort()
    this.#questions.close()
    this.#turn?.end("cancelled")
  }

  get isBusy(): boolean {
    return this.transcript.status === "running" || this.transcript.status === "awaiting_confirmation"
  }

  /** Sends a message. Resolves when its run has ended. */
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
      const submitOptions = { when: "queue" as const, timeZone, signal: this.#leaving.signal }
      // The message is durable with the first frame; the rest comes with the conversation.
      for await (const _first of client.run(this.id, text, {
        ...submitOptions,
        ...(ids.length > 0 ? { files: ids, ...workFilesOf(files) } : {}),
      }))
        break
    })
  }

  /** Uploads the files of a prompt, each with its path if all its content is in the work folder. */
  async #upload(along: readonly AttachedFile[]): Promise<MessageFile[]> {
    const files = new Map<string, MessageFile>()
    for (const { name, bytes, paths } of along) {
      const file = await this.place.client.uploadFile({ file: new Uint8Array(bytes), query: { name } })
      const places = await Promise.all(paths.map((path) => this.place.workFile(path)))
      const known = places.filter((place) => place !== undefined)
      const isOfFolder = known.length > 0 && known.length === places.length
      // The same bytes inside and outside the folder are one file.
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

  /** Starts a run and waits for its end. One at a time: ACP has one turn. */
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

  /** Sends the editor a text that is not part of the conversation. */
  async say(text: string): Promise<void> {
    await this.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${text}\n\n` } })
  }

  async update(update: SessionUpdate): Promise<void> {
    await this.#editor.update(this.id, update)
  }

  /** Sends the models to choose from. */
  async sendModels(): Promise<void> {
    const configOptions = await modelOption(this.place.client, this.transcript.model)
    if (configOptions.length > 0) await this.update({ sessionUpdate: "config_option_update", configOptions })
  }

  /** Sends the use of the context window and the cost, if known. */
  async #sendUsage(): Promise<void> {
    const { context } = await this.place.client.readConversation({ params: { id: this.id } })
    const { usedTokens: used, limitTokens: size, costUsd } = context ?? {}
    if (typeof used !== "number" || typeof size !== "number") return
    const cost = typeof costUsd === "number" ? { cost: { amount: costUsd, currency: "USD" } } : {}
    await this.update({ sessionUpdate: "usage_update", used, size, ...cost })
  }

  /** A queued message of a cancelled turn would be held, so it is withdrawn. Other clients' messages stay. */
  async #withdraw(turn: PromptTurn): Promise<void> {
    const { client } = this.place
    const items = await readPages((query) => client.listQueue({ params: { id: this.id }, query }))
    const last = items.findLast(({ text }) => text === turn.words)
    if (!last || turn.hasBegun) return
    try {
      await client.withdrawQueued({ params: { id: this.id, messageId: last.id } })
      turn.end("cancelled")
    } catch (error) {
      // It was just taken up: its run is cancelled when it starts.
      if (!hasCode(error, "message_taken") && !hasCode(error, "not_found")) throw error
    }
  }

  async #follow(position: number, listed: () => void): Promise<void> {
    const { signal } = this.#leaving
    const isCurrent = () => (parseCursor(this.transcript.cursor)?.position ?? 0) >= position
    if (isCurrent()) this.#goLive(listed)
    try {
      for await (const frame of this.place.client.events(this.id, { after: this.transcript.cursor, signal })) {
        const { title: previous } = this.transcript
        this.transcript = reduce(this.transcript, frame)
        await this.#send(frame)
        const { title } = this.transcript
        if (title !== previous) await this.update({ sessionUpdate: "session_info_update", title })
        if (isCurrent()) this.#goLive(listed)
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /** The history is sent: from here on events are live. */
  #goLive(listed: () => void): void {
    listed()
    this.#isLive = true
    this.#questions.follow(this.transcript)
  }

  async #send(frame: UnknownFrame): Promise<void> {
    const known = toKnownFrame(frame)
    if (!known) return
    const turn = this.#turn
    const isOwn = turn?.takes(known) ?? false
    for (const update of this.#updates.of(known, { isOwn, isAwaited: turn?.hasBegun ?? false }))
      await this.update(update)
    if (known.type === "run_ended" && this.#isLive) await this.#sendUsage().catch(() => {})
    turn?.follow(known)
    if (known.type === "settings" && known.data.model !== undefined) await this.sendModels().catch(() => {})
    if (isOwn && turn?.isCancelled) await this.place.client.cancelRun({ params: { id: this.id } })
  }
}
