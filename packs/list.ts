import { analystPack, type AnalystServices } from "./analyst/pack.ts"
import { filesPack, type FilesServices } from "./files/pack.ts"
import type { ThirdPartyServices, Pack } from "../core/pack.ts"
import { researchPack, type ResearchServices } from "./research/pack.ts"
import { workspacePack, type WorkspaceServices } from "./workspace/pack.ts"

/** The services for the standard packs and for packs of third parties. */
export type StandardServices = WorkspaceServices &
  AnalystServices &
  ResearchServices &
  FilesServices &
  ThirdPartyServices

/** Our packs, in the order in which their agents are listed. docs/recipes/add-an-agent.md says how to add one. */
export const standardPacks: readonly Pack<StandardServices>[] = [workspacePack, analystPack, researchPack, filesPack]
