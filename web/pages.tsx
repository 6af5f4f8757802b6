import { History } from "./icons/arrows.ts"
import { CheckSquare } from "./icons/signs.ts"
import { Folder, Inbox, Library, Notebook } from "./icons/things.ts"
import { ConversationPage } from "./conversation/conversation-page.tsx"
import { NewPage } from "./conversation/new-page.tsx"
import { InboxBadge } from "./inbox/inbox-badge.tsx"
import { lazyPage } from "./shell/lazy-page.tsx"
import type { Page } from "./shell/page.ts"

// Loaded when somebody goes there: who comes to talk does not wait for them.
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
const TwoRunsPage = lazyPage(() => import("./runs/two-runs-page.tsx").then((file) => file.TwoRunsPage))
const SharedRunPage = lazyPage(() => import("./runs/shared-run-page.tsx").then((file) => file.SharedRunPage))
const RunOfMessagePage = lazyPage(() => import("./runs/run-of-message-page.tsx").then((file) => file.RunOfMessagePage))
const SettingsPage = lazyPage(() => import("./settings/settings-page.tsx").then((file) => file.SettingsPage))

/** Every page there is. A new one is a line here and a file that draws it. */
export const pages: readonly Page[] = [
  { path: "/", draw: () => <NewPage /> },
  { path: "/c/:id", draw: ({ id = "" }) => <ConversationPage key={id} id={id} /> },
  { path: "/c/:id/runs", draw: ({ id = "" }) => <RunsPage key={id} id={id} /> },
  {
    path: "/c/:id/run-of/:message",
    draw: ({ id = "", message = "" }) => <RunOfMessagePage key={message} id={id} message={message} />,
  },
  { path: "/runs/:id", draw: ({ id = "" }) => <RunPage key={id} id={id} /> },
  {
    path: "/runs/:id/beside/:other",
    draw: ({ id = "", other = "" }) => <TwoRunsPage key={`${id} ${other}`} id={id} other={other} />,
  },
  { path: "/shared", draw: () => <SharedRunPage /> },
  { path: "/inbox", draw: () => <InboxPage />, nav: { label: "Inbox", icon: Inbox, badge: InboxBadge } },
  { path: "/tasks", draw: () => <TasksPage />, nav: { label: "Tasks", icon: CheckSquare } },
  { path: "/tasks/:id", draw: ({ id = "" }) => <TasksPage id={id} /> },
  { path: "/projects", draw: () => <ProjectsPage />, nav: { label: "Projects", icon: Folder } },
  { path: "/projects/:id", draw: ({ id = "" }) => <ProjectPage key={id} id={id} /> },
  { path: "/notes", draw: () => <NotesPage />, nav: { label: "Notes", icon: Notebook } },
  { path: "/notes/:id", draw: ({ id = "" }) => <NotesPage id={id} /> },
  { path: "/clients", draw: () => <ClientsPage /> },
  { path: "/library", draw: () => <LibraryPage />, nav: { label: "Library", icon: Library } },
  { path: "/audit", draw: () => <AuditPage />, nav: { label: "What was done", icon: History } },
  { path: "/settings", draw: () => <SettingsPage /> },
  { path: "/settings/:section", draw: ({ section = "" }) => <SettingsPage section={section} /> },
]
