import { type ComponentType, lazy, Suspense, useEffect } from "react"
import { CheckSquare, Folder, History, Inbox, Library, Notebook } from "./components/icons.tsx"
import { NewConversationPage } from "./conversation/new-conversation-page.tsx"
import { InboxBadge } from "./inbox/waiting-proposals.tsx"
import { lazyPage } from "./shell/lazy-page.tsx"
import type { Page } from "./shell/page.ts"
import { droppedTables } from "./state/drop-zones.ts"
import { useStore } from "./state/store.ts"
import { toast } from "./state/toasts.ts"
import { withStrings } from "./strings/language.ts"
import { t } from "./strings/strings.ts"

const loadConversationPage = () =>
  withStrings(() => import("./conversation/conversation-page.tsx").then((file) => file.ConversationPage))

/** Loads the page of a conversation while the person types their first message. */
export const prefetchConversationPage = () => void loadConversationPage().catch(() => {})

// Loaded on first visit, to keep the first load small.
const ConversationPage = lazyPage(loadConversationPage)
const InboxPage = lazyPage(() => import("./inbox/inbox-page.tsx").then((file) => file.InboxPage))
const TasksPage = lazyPage(() => import("./workspace/tasks-page.tsx").then((file) => file.TasksPage))
const ProjectsPage = lazyPage(() => import("./workspace/projects-page.tsx").then((file) => file.ProjectsPage))
const ProjectPage = lazyPage(() => import("./workspace/project-page.tsx").then((file) => file.ProjectPage))
const NotesPage = lazyPage(() => import("./workspace/notes-page.tsx").then((file) => file.NotesPage))
const ClientsPage = lazyPage(() => import("./workspace/clients-page.tsx").then((file) => file.ClientsPage))
const LibraryPage = lazyPage(() => import("./library/library-page.tsx").then((file) => file.LibraryPage))
const AuditPage = lazyPage(() => import("./audit/audit-page.tsx").then((file) => file.AuditPage))
const RunsPage = lazyPage(() => import("./runs/runs-page.tsx").then((file) => file.RunsPage))
const RunPage = lazyPage(() => import("./runs/run-page.tsx").then((file) => file.RunPage))
const CompareRunsPage = lazyPage(() => import("./runs/compare-runs-page.tsx").then((file) => file.CompareRunsPage))
const SharedRunPage = lazyPage(() => import("./runs/shared-run-page.tsx").then((file) => file.SharedRunPage))
const RunOfMessagePage = lazyPage(() => import("./runs/run-of-message-page.tsx").then((file) => file.RunOfMessagePage))
const SettingsPage = lazyPage(() => import("./settings/settings-page.tsx").then((file) => file.SettingsPage))

const TableDialog = lazy(() =>
  withStrings(() => import("./connections/table-dialog.tsx")).then(
    ({ TableDialog: draw }) => ({ default: draw as ComponentType }),
    () => ({ default: NotLoaded }),
  ),
)

/** Drawn over the page on which a table was dropped. */
export function DroppedTables() {
  return useStore(droppedTables).length === 0 ? null : (
    <Suspense fallback={null}>
      <TableDialog />
    </Suspense>
  )
}

function NotLoaded() {
  useEffect(() => {
    droppedTables.set([])
    toast(t("common.partNotLoaded"), "bad")
  }, [])
  return null
}

/** All pages. A new one is a line here and a file that draws it. */
export const pages: readonly Page[] = [
  { path: "/", draw: () => <NewConversationPage /> },
  { path: "/c/:id", draw: ({ id = "" }) => <ConversationPage key={id} id={id} /> },
  { path: "/c/:id/runs", draw: ({ id = "" }) => <RunsPage key={id} id={id} /> },
  {
    path: "/c/:id/run-of/:message",
    draw: ({ id = "", message = "" }) => <RunOfMessagePage key={message} id={id} message={message} />,
  },
  { path: "/runs/:id", draw: ({ id = "" }) => <RunPage key={id} id={id} /> },
  {
    path: "/runs/:id/beside/:other",
    draw: ({ id = "", other = "" }) => <CompareRunsPage key={`${id} ${other}`} id={id} other={other} />,
  },
  { path: "/shared", draw: () => <SharedRunPage /> },
  { path: "/inbox", draw: () => <InboxPage />, nav: { label: "shell.inbox", icon: Inbox, badge: InboxBadge } },
  { path: "/tasks", draw: () => <TasksPage />, nav: { label: "shell.tasks", icon: CheckSquare, tool: "list_tasks" } },
  { path: "/tasks/:id", draw: ({ id = "" }) => <TasksPage id={id} /> },
  {
    path: "/projects",
    draw: () => <ProjectsPage />,
    nav: { label: "shell.projects", icon: Folder, tool: "list_projects" },
  },
  { path: "/projects/:id", draw: ({ id = "" }) => <ProjectPage key={id} id={id} /> },
  { path: "/notes", draw: () => <NotesPage />, nav: { label: "shell.notes", icon: Notebook, tool: "list_notes" } },
  { path: "/notes/:id", draw: ({ id = "" }) => <NotesPage id={id} /> },
  { path: "/clients", draw: () => <ClientsPage /> },
  {
    path: "/library",
    draw: () => <LibraryPage />,
    nav: { label: "shell.library", icon: Library, tool: "retrieve_chunks" },
  },
  { path: "/audit", draw: () => <AuditPage />, nav: { label: "shell.history", icon: History } },
  { path: "/settings", draw: () => <SettingsPage /> },
  { path: "/settings/:section", draw: ({ section = "" }) => <SettingsPage section={section} /> },
]
