import { isAbsolute } from "node:path"
import {
  type ListSessionsResponse,
  type McpServer,
  type SessionConfigOption,
  type SessionModeState,
  RequestError,
} from "@agentclientprotocol/sdk"
import { fromDetail } from "../../client/transcript/from-detail.ts"
import type { Mode } from "../../core/protocol/schema.ts"
import type { ConnectedEditor, EditorFiles, EditorFolder, EditorPlaces } from "./editor.ts"
import { EditorConversation } from "./editor-conversation.ts"
import { availableCommands } from "./commands.ts"
import { MODEL_OPTION, modelOption, modesOf } from "./session-options.ts"
import { refuseRequest } from "./refusal.ts"

const LISTED = 50

interface OpenRequest {
  readonly id: string
  readonly folder: string
  readonly servers: readonly McpServer[]
  readonly tells: "all" | "nothing"
}

/** The open conversations of an editor, which ACP calls sessions. A session has the id of its conversation. */
export class EditorConversations {
  readonly #places: EditorPlaces
  readonly #editor: ConnectedEditor
  /** The folder for requests without one. */
  readonly #usual: string
  readonly #open = new Map<string, EditorConversation>()
  /** The conversation that was opened last in each folder. */
  readonly #newest = new Map<string, string>()

  constructor(places: EditorPlaces, editor: ConnectedEditor, usual: string) {
    this.#places = places
    this.#editor = editor
    this.#usual = usual
  }

  get(id: string): EditorConversation {
    const found = this.#open.get(id)
    if (!found) throw RequestError.sessionNotFound(id)
    return found
  }

  async begin(folder: string, servers: readonly McpServer[]): Promise<EditorConversation> {
    const place = await this.#placeOf(folder, servers)
    const { id, position } = await place.client.createConversation({ body: place.begins })
    place.entered(id)
    const opened = new EditorConversation({ id, place, editor: this.#editor, position })
    return this.#introduceSoon(this.#keep(opened, folder))
  }

  /** `tells`: whether the history is sent again before this resolves. */
  async goOn({ id, folder, servers, tells }: OpenRequest): Promise<EditorConversation> {
    const place = await this.#placeOf(folder, servers)
    const detail = await place.client.readConversation({ params: { id } })
    place.entered(id)
    const known = tells === "all" ? {} : { known: fromDetail(detail) }
    const { position } = detail
    const opened = new EditorConversation({ id, place, editor: this.#editor, position, ...known })
    const conversation = this.#keep(opened, folder)
    await conversation.told
    return this.#introduceSoon(conversation)
  }

  /** The conversations of a folder, or all whose folder is known. Conversations without a message are omitted. */
  async list(folder: string | undefined, cursor: string | undefined): Promise<ListSessionsResponse> {
    const { client, realDir } = await this.#placeOf(folder ?? this.#usual)
    const query = { limit: LISTED, ...(cursor === undefined ? {} : { cursor }) }
    const { items, nextCursor } = await client.listConversations({ query })
    const folders = this.#places.folders()
    const sessions = items.flatMap(({ id, title, updatedAt }) => {
      const cwd = folders.get(id)
      const isWanted = cwd !== undefined && title !== null && (folder === undefined || cwd === realDir)
      return isWanted ? [{ sessionId: id, cwd: folder ?? cwd, title, updatedAt }] : []
    })
    return { sessions, ...(nextCursor === null ? {} : { nextCursor }) }
  }

  /** Sets the model, and returns the options. */
  async setOption(id: string, option: string, value: unknown): Promise<SessionConfigOption[]> {
    const { place } = this.get(id)
    if (option !== MODEL_OPTION || typeof value !== "string")
      throw refuseRequest(`There is one option here, "${MODEL_OPTION}", and its value is the name of a model.`)
    const { model } = await place.client.chooseModel({ params: { id }, body: { name: value } })
    return modelOption(place.client, model)
  }

  async setMode(id: string, mode: Mode): Promise<void> {
    await this.get(id).place.client.changeConversation({ params: { id }, body: { mode } })
  }

  /** Closes a conversation and cancels its run. */
  async close(id: string): Promise<void> {
    const conversation = this.get(id)
    if (conversation.isBusy) await conversation.cancel()
    conversation.close()
    this.#open.delete(id)
  }

  async remove(id: string): Promise<void> {
    const open = this.#open.get(id)
    const { client } = open?.place ?? (await this.#placeOf(this.#places.folders().get(id) ?? this.#usual))
    open?.close()
    this.#open.delete(id)
    await client.deleteConversation({ params: { id } })
  }

  closeAll(): void {
    for (const conversation of this.#open.values()) conversation.close()
    this.#open.clear()
  }

  #keep(conversation: EditorConversation, folder: string): EditorConversation {
    this.#open.get(conversation.id)?.close()
    this.#open.set(conversation.id, conversation)
    this.#newest.set(folder, conversation.id)
    return conversation
  }

  /** After the response that opens it: before that the editor does not know the session. */
  #introduceSoon(conversation: EditorConversation): EditorConversation {
    setImmediate(() => void this.#introduce(conversation).catch(() => {}))
    return conversation
  }

  /** Sends the commands and models, and which of the editor's MCP servers are not used. */
  async #introduce(conversation: EditorConversation): Promise<void> {
    await conversation.update({ sessionUpdate: "available_commands_update", availableCommands })
    for (const name of conversation.place.unused) await conversation.say(name)
    await conversation.sendModels()
  }

  /** Files are requested in the session that was opened last in their folder. */
  #filesIn(folder: string): EditorFiles | undefined {
    const { can } = this.#editor
    if (!can.readsFiles) return undefined
    const inName = <Value>(ask: (id: string) => Promise<Value>, otherwise: Value): Promise<Value> => {
      const id = this.#newest.get(folder)
      return id === undefined ? Promise.resolve(otherwise) : ask(id)
    }
    return {
      read: (path) => inName((id) => this.#editor.readFile(id, path), undefined),
      write: can.writesFiles
        ? (path, text) => inName((id) => this.#editor.writeFile(id, path, text), "no conversation is open there")
        : undefined,
    }
  }

  #placeOf(folder: string, servers: readonly McpServer[] = []): Promise<EditorFolder> {
    if (!isAbsolute(folder)) throw refuseRequest(`The folder ${JSON.stringify(folder)} has to be an absolute path.`)
    return this.#places.open(folder, { files: this.#filesIn(folder), servers })
  }
}

export const modesIn = ({ transcript, place }: EditorConversation): SessionModeState =>
  modesOf(transcript.mode ?? place.begins?.mode ?? "confirm")
