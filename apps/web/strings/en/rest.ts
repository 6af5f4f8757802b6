/** The messages of the parts of the page that are loaded later. */
import audit from "./audit.json" with { type: "json" }
import chart from "./chart.json" with { type: "json" }
import connections from "./connections.json" with { type: "json" }
import inbox from "./inbox.json" with { type: "json" }
import library from "./library.json" with { type: "json" }
import runs from "./runs.json" with { type: "json" }
import settings from "./settings.json" with { type: "json" }
import workspace from "./workspace.json" with { type: "json" }

export default { audit, chart, connections, inbox, library, runs, settings, workspace }
