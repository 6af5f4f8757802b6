import type { NodeMessage } from "../../protocol/ports/node-message.ts"

/** How the processes that share a database speak to each other. */
export interface NodeMessages {
  /** This node's id. */
  readonly self: string
  /** False: surely not handed over. True says nothing of its arrival: each message may be lost, late or doubled. */
  send(to: string, message: NodeMessage): Promise<boolean>
  subscribe(listener: (message: NodeMessage, from: string) => void): () => void
}
