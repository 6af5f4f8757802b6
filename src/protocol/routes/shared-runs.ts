import { pageOf } from "../answers.ts"
import {
  CreatedSharedRun,
  NewSharedRun,
  SharedRun,
  SharedRunSecret,
  SharedRunView,
} from "../conversation/shared-run.ts"
import { PageQuery } from "../requests.ts"
import { defineRoutes } from "./route.ts"

/** Links by which other people of the same server look at one run. */
export const sharedRunRoutes = defineRoutes({
  shareRun: {
    method: "POST",
    path: "/api/runs/{id}/shares",
    needs: "manage",
    says: "A link to this run for somebody else who is signed in here, shown this once: its words, replies, calls and results, and nothing of other runs.",
    body: NewSharedRun,
    answers: { 201: CreatedSharedRun },
  },
  listSharedRuns: {
    method: "GET",
    path: "/api/shared-runs",
    needs: "read",
    says: "Your links to runs that still open, newest first, without their secrets.",
    query: PageQuery,
    answers: { 200: pageOf(SharedRunView) },
  },
  revokeSharedRun: {
    method: "DELETE",
    path: "/api/shared-runs/{id}",
    needs: "manage",
    says: "Takes a link to a run back: from now on it is a missing one.",
    answers: { 204: null },
  },
  openSharedRun: {
    method: "POST",
    path: "/api/shared-runs/open",
    needs: "read",
    says: "What a link shows of somebody's run, row by row, as many as fit into an answer.",
    body: SharedRunSecret,
    answers: { 200: SharedRun },
  },
})
