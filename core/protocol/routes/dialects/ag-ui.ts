import { AgUiRequest } from "../../dialects/ag-ui.ts"
import { defineRoutes } from "../route.ts"

/** Routes for AG-UI frontends (docs/reference/ag-ui.md). */
export const agUiRoutes = defineRoutes({
  runAgUi: {
    method: "POST",
    path: "/ag-ui/{agent}",
    needs: "chat",
    says: "AG-UI dialect: an agent answers the last message, or continues after decisions, as a stream of AG-UI events.",
    body: AgUiRequest,
    large: "workspace",
    answers: {},
    stream: "always",
  },
  connectAgUi: {
    method: "POST",
    path: "/ag-ui/{agent}/connect",
    needs: "read",
    says: "AG-UI dialect: returns a thread and streams its newest run, for `connectAgent`, without sending a message.",
    body: AgUiRequest,
    large: "workspace",
    answers: {},
    stream: "always",
  },
})
