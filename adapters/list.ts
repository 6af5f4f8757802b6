import type { Adapter } from "../core/adapter.ts"
import { agUiAdapter } from "./ag-ui/adapter.ts"
import { aiSdkAdapter } from "./ai-sdk/adapter.ts"
import { mcpAdapter } from "./mcp/adapter.ts"
import { openAiAdapter } from "./openai/adapter.ts"
import { threadsAdapter } from "./threads/adapter.ts"

/** The wire formats of a Pawl server besides its own. ACP is separate: `pawl acp` speaks it over stdio. */
export const adapters: readonly Adapter[] = [threadsAdapter, openAiAdapter, agUiAdapter, mcpAdapter, aiSdkAdapter]
