import { isAbsolute } from "node:path"
import type { ListSessionsResponse, SessionModeState } from "@agentclientprotocol/sdk"
import { RequestError } from "@agentclientprotocol/sdk"
import { fromDetail } from "../client/transcript/from-detail.ts"
import type { Mode } from "../protocol/schema.ts"
import type { ConnectedEditor } from "./connected-editor.ts"
import { EditorConversation } from "./editor-conversation.ts"
import { modesOf } from "./modes.ts"
import type { EditorPlace, EditorPlaces } from "./place.ts"
import { refuseRequest } from "./refusal.ts"

const LISTED = 50

/** The conversations that one editor has open: what the protocol calls sessions, each under our own id. */
export class EditorConversations {
  readonly #places: EditorPlaces
  readonly #editor: ConnectedEditor
  /** Where there is no folder to look from. */
  readonly #usual: string
  readonly #open = new Map<string, EditorConversation>()

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

  async begin(folder: string): Promise<EditorConversation> {
    const place = await this.#placeOf(folder)
    const { id, position } = await place.client.createConversation({ body: place.begins })
    place.entered(id)
    return this.#keep(new EditorConversation({ id, place, editor: this.#editor, position }))
  }

  /** `tells`: whether the editor is told all of it again, before this resolves. */
  async goOn(id: string, folder: string, tells: "all" | "nothing"): Promise<EditorConversation> {
    const place = await this.#placeOf(folder)
    const detail = await place.client.readConversation({ params: { id } })
    place.entered(id)
    const known = tells === "all" ? {} : { known: fromDetail(detail) }
    const { position } = detail
    const conversation = this.#keep(new EditorConversation({ id, place, editor: this.#editor, position, ...known }))
    await conversation.told
    return conversation
  }

  /** Those of a folder, or all whose folder is known here; those in which nothing was said are none yet. */
  async list(folder: string | undefined, cursor: string | undefined): Promise<ListSessionsResponse> {
    const { client } = await this.#placeOf(folder ?? this.#usual)
    const query = { limit: LISTED, ...(cursor === undefined ? {} : { cursor }) }
    const { items, nextCursor } = await client.listConversations({ query })
    const folders = this.#places.folders()
    const sessions = items.flatMap(({ id, title, updatedAt }) => {
      const cwd = folders.get(id)
      const isWanted = cwd !== undefined && title !== null && (folder === undefined || cwd === folder)
      return isWanted ? [{ sessionId: id, cwd, title, updatedAt }] : []
    })
    return { sessions, ...(nextCursor === null ? {} : { nextCursor }) }
  }

  async setMode(id: string, mode: Mode): Promise<void> {
    await this.get(id).place.client.changeConversation({ params: { id }, body: { mode } })
  }

  /** The editor shows it no longer, and wants nothing more done in it. */
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

  #keep(conversation: EditorConversation): EditorConversation {
    this.#open.get(conversation.id)?.close()
    this.#open.set(conversation.id, conversation)
    return conversation
  }

  #placeOf(folder: string): Promise<EditorPlace> {
    if (!isAbsolute(folder)) throw refuseRequest(`The folder ${JSON.stringify(folder)} has to be an absolute path.`)
    return this.#places.open(folder)
  }
}

/** Its modes, as the editor shows them. */
export const modesIn = ({ transcript, place }: EditorConversation): SessionModeState =>
  modesOf(transcript.mode ?? place.begins?.mode ?? "confirm")
