import { analystPack, type AnalystServices } from "./analyst/pack.ts"
import { filesPack, type FilesServices } from "./files/pack.ts"
import type { OutsideServices } from "../core/packs/outside/load.ts"
import type { Pack } from "../core/packs/pack.ts"
import { researchPack, type ResearchServices } from "./research/pack.ts"
import { workspacePack, type WorkspaceServices } from "./workspace/pack.ts"

/** What whoever opens our packs, and those of others beside them, has to have at hand. */
export type HouseServices = WorkspaceServices & AnalystServices & ResearchServices & FilesServices & OutsideServices

/** Our packs, in the order in which their agents are listed. A new one is a folder and a line here. */
export const housePacks: readonly Pack<HouseServices>[] = [workspacePack, analystPack, researchPack, filesPack]
