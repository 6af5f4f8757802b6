import type { Client } from "../client/client.ts"

/** A Pawl that works in one folder, for the conversations that an editor has there: in this process, or at a server. */
export interface EditorPlace {
  readonly client: Client
  /** The folder by its real name: what paths of calls are below. */
  readonly dir: string
  /** What a new conversation begins with: agent, model, mode, and where its tools run. */
  readonly begins: NonNullable<Parameters<Client["createConversation"]>[0]>["body"]
  /** A conversation was begun, or gone on with. */
  entered(id: string): void
}

/** The places of one editor, opened when it first names their folder. */
export interface EditorPlaces {
  open(folder: string): Promise<EditorPlace>
  /** In which folder conversations were begun, as far as this machine knows. */
  folders(): ReadonlyMap<string, string>
}
