import type { DeviceCalls } from "../../agent/devices.ts"
import type { UserId } from "../../protocol/ids.ts"
import type { Embedder, Workspace } from "../../protocol/ports/workspace.ts"
import { definePack } from "../pack.ts"
import { workspaceAgent } from "./agent.ts"
import { atSite } from "./device/workspace.ts"
import { findableNotes } from "./findable-notes.ts"
import { orchestrator } from "./routing/orchestrator.ts"
import { searchNotes } from "./search-notes.ts"

export interface WorkspaceServices {
  workspaceOf(user: UserId): Workspace
  readonly devices: DeviceCalls
  /** What notes are found by. */
  readonly embedder: Embedder
  /** One that runs on this machine, whatever notes are found by: what people say is sent nowhere only to choose tools. */
  readonly localEmbedder: Embedder | undefined
}

export const workspacePack = definePack({
  name: "workspace",
  open({ devices, embedder, localEmbedder, ...store }: WorkspaceServices) {
    const onServer = atSite(({ user }) => store.workspaceOf(user), devices)
    const workspace = findableNotes(onServer, embedder)
    const route = orchestrator({ embedder: localEmbedder })
    return { agents: [workspaceAgent(workspace, { note: [searchNotes(workspace, embedder)] }, route)] }
  },
})
