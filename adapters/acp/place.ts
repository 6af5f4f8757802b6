import type { McpServer } from "@agentclientprotocol/sdk"
import type { Client } from "../../client/client.ts"
import type { WorkFile } from "../../core/protocol/conversation/message.ts"

/** A Pawl that works in one folder, for the conversations that an editor has there: in this process, or at a server. */
export interface EditorPlace {
  readonly client: Client
  /** The folder as the editor names it: what paths are below that it is told. */
  readonly dir: string
  /** Its real name, under which conversations are noted. */
  readonly realDir: string
  /** What a new conversation begins with: agent, model, mode, and where its tools run. */
  readonly begins: NonNullable<Parameters<Client["createConversation"]>[0]>["body"]
  /** A file of the folder as a message names it; undefined for a file outside of it, to which a link in the folder may lead. */
  workFile(path: string): Promise<Pick<WorkFile, "path" | "trusted"> | undefined>
  /** MCP servers of the editor that are not used here, by their names, and why. */
  readonly unused: readonly string[]
  /** A conversation was begun, or gone on with. */
  entered(id: string): void
}

/** Files as the editor holds them: what an agent reads and writes in place of what is on disk. Paths are absolute. */
export interface EditorFiles {
  read(path: string): Promise<string | undefined>
  /** Why it was refused; undefined where it was written. Fails where nobody knows. */
  readonly write?: ((path: string, text: string) => Promise<string | undefined>) | undefined
}

/** What an editor brings along for a folder. */
export interface EditorBrings {
  readonly files: EditorFiles | undefined
  readonly servers: readonly McpServer[]
}

/** The places of one editor, opened when it first names their folder. */
export interface EditorPlaces {
  open(folder: string, brings: EditorBrings): Promise<EditorPlace>
  /** Whether MCP servers that the editor names can be used. */
  readonly takesServers: boolean
  /** In which folder conversations were begun, as far as this machine knows. */
  folders(): ReadonlyMap<string, string>
}
