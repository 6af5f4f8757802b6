import "./state/no-eval.ts"
import "./styles.css"
import "./state/theme.ts"
import { createRoot } from "react-dom/client"
import { DroppedTables, pages, prefetchConversationPage } from "./pages.tsx"
import { App } from "./shell/app.tsx"
import { findIdentity } from "./state/identity.ts"
import { startLanguage } from "./strings/language.ts"

void findIdentity()
await startLanguage()
createRoot(document.getElementById("page") as HTMLElement).render(
  <App pages={pages}>
    <DroppedTables />
  </App>,
)
setTimeout(prefetchConversationPage, 500)
