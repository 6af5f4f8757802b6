import {
  definePack,
  type DeviceCalls,
  type Embedder,
  type TaintedRows,
  type UserId,
  type Workspace,
} from "../../core/pack.ts"
import { workspaceAgent } from "./agent.ts"
import { serverOrDevice } from "./device/device-workspace.ts"
import { findableNotes } from "./findable-notes.ts"
import { orchestrator } from "./routing/orchestrator.ts"
import { searchNotes } from "./search-notes.ts"
import { withTaint } from "./with-taint.ts"

export interface WorkspaceServices {
  workspaceOf(user: UserId): Workspace
  /** Which rows hold text of runs that had read untrusted content. */
  readonly taintedRows: TaintedRows
  readonly devices: DeviceCalls
  /** Creates the vectors that notes are searched by. */
  readonly embedder: Embedder
}

export const workspacePack = definePack({
  name: "workspace",
  open({ devices, embedder, ...store }: WorkspaceServices) {
    const anywhere = withTaint(
      serverOrDevice(({ user }) => store.workspaceOf(user), devices),
      store.taintedRows,
    )
    const workspace = findableNotes(anywhere, embedder)
    return { agents: [workspaceAgent(workspace, { note: [searchNotes(workspace, embedder)] }, orchestrator)] }
  },
})
