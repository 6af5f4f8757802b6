import { pageOf, QueuedAnswer, RunAnswer } from "../../answers.ts"
import { NewMessage, PageQuery } from "../../requests.ts"
import { defineRoutes } from "../route.ts"
import { Run } from "../../conversation/run.ts"
import { RunJournal, RunJournalQuery } from "../../conversation/run-journal.ts"

/** Speaking to a conversation, waiting for what it answers, and looking at runs. */
export const runRoutes = defineRoutes({
  sendMessage: {
    method: "POST",
    path: "/api/conversations/{id}/messages",
    needs: "chat",
    says: "Says something. Answers when the run ends or pauses; 202 when the message only waits in the queue.",
    body: NewMessage,
    answers: { 200: RunAnswer, 202: QueuedAnswer },
    stream: "asked",
  },
  resumeRun: {
    method: "POST",
    path: "/api/conversations/{id}/resume",
    needs: "chat",
    says: "Waits for the run that goes on after its decisions, or works on after a failed or cancelled one.",
    answers: { 200: RunAnswer },
    stream: "asked",
  },
  listRuns: {
    method: "GET",
    path: "/api/conversations/{id}/runs",
    needs: "read",
    says: "The runs of a conversation, newest first.",
    query: PageQuery,
    answers: { 200: pageOf(Run) },
  },
  readRun: {
    method: "GET",
    path: "/api/runs/{id}",
    needs: "read",
    says: "One run.",
    answers: { 200: Run },
  },
  readRunOfMessage: {
    method: "GET",
    path: "/api/conversations/{id}/messages/{messageId}/run",
    needs: "read",
    says: "The run that a message belongs to.",
    answers: { 200: Run },
  },
  readRunJournal: {
    method: "GET",
    path: "/api/runs/{id}/journal",
    needs: "read",
    says: "What was recorded of a run, row by row, as many as fit into an answer: for whoever wants to know what happened.",
    query: RunJournalQuery,
    answers: { 200: RunJournal },
  },
})
