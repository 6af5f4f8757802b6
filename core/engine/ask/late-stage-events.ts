import { latePart } from "../../shared/concurrency/late-part.ts"

/** What a reply means in the words of stages and what it cites, for agents that have stages. */
export const stageEvents = latePart(() => import("./stage-events.ts"))
