import type {
  RequestPermissionOutcome,
  RequestPermissionRequest,
  SessionId,
  SessionUpdate,
} from "@agentclientprotocol/sdk"

/** What an editor has said that it can do, beyond what each can. */
export interface EditorAbilities {
  /** Shows small print as what it is; to others it is told as words. */
  readonly notices: boolean
  readonly readsFiles: boolean
  readonly writesFiles: boolean
}

/** The editor at the other end, as a conversation sees it. */
export interface ConnectedEditor {
  readonly can: EditorAbilities
  /** It has hung up: nothing that it had asked for is taken back by that. */
  readonly isGone: boolean
  /** Resolves when it is written: an editor that reads slowly is waited for, and costs no memory. */
  update(sessionId: SessionId, update: SessionUpdate): Promise<void>
  /** Asks the person in front of it. An aborted signal withdraws the question there. */
  ask(request: RequestPermissionRequest, withdrawn: AbortSignal): Promise<RequestPermissionOutcome>
  /** A file as it stands in the editor, saved or not; undefined where it does not tell. */
  readFile(sessionId: SessionId, path: string): Promise<string | undefined>
  /** Why the editor has refused; undefined where it has written. Fails where nobody knows. */
  writeFile(sessionId: SessionId, path: string, text: string): Promise<string | undefined>
}
