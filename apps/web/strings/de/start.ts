/** The messages of the first load. */
import type english from "../en/start.ts"
import changes from "./changes.json" with { type: "json" }
import common from "./common.json" with { type: "json" }
import conversation from "./conversation.json" with { type: "json" }
import markdown from "./markdown.json" with { type: "json" }
import proposal from "./proposal.json" with { type: "json" }
import shell from "./shell.json" with { type: "json" }
import views from "./views.json" with { type: "json" }

const start: typeof english = { changes, common, conversation, markdown, proposal, shell, views }

export default start
