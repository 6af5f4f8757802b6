import type {
  RequestPermissionOutcome,
  RequestPermissionRequest,
  SessionId,
  SessionUpdate,
  McpServer,
} from "@agentclientprotocol/sdk"
import type { Client } from "../../client/client.ts"
import type { WorkFile } from "../../core/protocol/conversation/message.ts"

/** The optional capabilities of an editor. */
export interface EditorAbilities {
  /** Shows notices; other editors get them as text. */
  readonly notices: boolean
  readonly readsFiles: boolean
  readonly writesFiles: boolean
}

/** The connected editor, as a conversation uses it. */
export interface ConnectedEditor {
  readonly can: EditorAbilities
  /** The connection is closed. That cancels nothing. */
  readonly isGone: boolean
  /** Resolves when the update is written, so that a slow editor causes back-pressure. */
  update(sessionId: SessionId, update: SessionUpdate): Promise<void>
  /** Asks the person. Aborting the signal withdraws the question. */
  ask(request: RequestPermissionRequest, withdrawn: AbortSignal): Promise<RequestPermissionOutcome>
  /** The current content of a file in the editor, saved or not; undefined if the editor does not return it. */
  readFile(sessionId: SessionId, path: string): Promise<string | undefined>
  /** Why the editor refused; undefined if it wrote the file. Rejects if the outcome is unknown. */
  writeFile(sessionId: SessionId, path: string, text: string): Promise<string | undefined>
}

/** A server that works in one folder, in this process or remote. */
export interface EditorFolder {
  readonly client: Client
  /** The folder's path as the editor knows it; other paths are relative to it. */
  readonly dir: string
  /** The resolved path, under which conversations are recorded. */
  readonly realDir: string
  /** The agent, model, mode and site of new conversations. */
  readonly begins: NonNullable<Parameters<Client["createConversation"]>[0]>["body"]
  /** A file of the folder for a message; undefined if it is outside, also through a link. */
  workFile(path: string): Promise<Pick<WorkFile, "path" | "trusted"> | undefined>
  /** The editor's MCP servers that are not used, with the reason. */
  readonly unused: readonly string[]
  /** Called when a conversation is created or opened. */
  entered(id: string): void
}

/** Unsaved files in the editor, which tools read and write instead of the disk. Paths are absolute. */
export interface EditorFiles {
  read(path: string): Promise<string | undefined>
  /** Why it was refused; undefined if it was written. Rejects if the outcome is unknown. */
  readonly write?: ((path: string, text: string) => Promise<string | undefined>) | undefined
}

/** The services of an editor for a folder. */
export interface EditorOffers {
  readonly files: EditorFiles | undefined
  readonly servers: readonly McpServer[]
}

/** Opens places on first use. */
export interface EditorPlaces {
  open(folder: string, brings: EditorOffers): Promise<EditorFolder>
  /** Whether the editor's MCP servers can be used. */
  readonly takesServers: boolean
  /** The folder of each conversation, as far as this machine knows. */
  folders(): ReadonlyMap<string, string>
}
