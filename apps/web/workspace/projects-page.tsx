import { Archive, Building, Folder } from "../components/icons.tsx"
import { useState } from "react"
import type { Project } from "../../../core/protocol/index.ts"
import { ButtonLink, Link } from "../components/button.tsx"
import { Plain } from "../components/plain.tsx"
import { containsText, SearchField } from "../components/form.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { navigate } from "../state/router.ts"
import { useWorkspace } from "../state/workspace.ts"
import { rich, t } from "../strings/strings.ts"
import { createRow } from "./rows/edit-row.ts"
import { EmptyWorkspace, ReadProblem, WorkspaceMenu } from "./empty-workspace.tsx"
import { QuickAdd } from "./rows/quick-add.tsx"
import { useServerSearch } from "./rows/use-full-row.ts"

/** All projects, with the archived ones at the end. */
export function ProjectsPage() {
  const { view, problem } = useWorkspace()
  const [words, setWords] = useState("")
  const { projects } = view
  const onServer = useServerSearch("projects", words, projects.rows)
  const found = projects.rows
    .filter(({ id, name, aiSummary }) => containsText(words, name, aiSummary) || onServer?.has(id))
    .sort((a, b) => a.name.localeCompare(b.name))
  const isEmpty = projects.isKnown && projects.rows.length === 0
  const add = async (name: string) => {
    const { id } = await createRow("projects", { name })
    navigate(`/projects/${id}`)
  }
  return (
    <>
      <PageHeader title={t("shell.projects")}>
        <ButtonLink small look="quiet" to="/clients">
          <Building className="size-4" /> {t("workspace.clients")}
        </ButtonLink>
        <WorkspaceMenu />
      </PageHeader>
      <ReadProblem problem={problem} />
      {isEmpty ? (
        <EmptyWorkspace title={t("workspace.noProjects")} hint={t("workspace.noProjectsHint")}>
          <QuickAdd what="project" onAdd={add} />
        </EmptyWorkspace>
      ) : (
        <div className="min-h-0 flex-1 overflow-y-auto px-3 pb-6 md:px-5">
          <div className="mb-3 flex flex-wrap gap-2">
            <div className="w-full md:w-80">
              <QuickAdd what="project" onAdd={add} />
            </div>
            <SearchField label={t("workspace.searchProjects")} value={words} onChange={setWords} />
          </div>
          <Projects name={t("workspace.active")} projects={found.filter(({ status }) => status === "active")} />
          <Projects name={t("workspace.archived")} projects={found.filter(({ status }) => status === "archived")} />
          {projects.isKnown && found.length === 0 && (
            <p className="px-1 py-3 text-soft">{t("workspace.noProjectsMatch")}</p>
          )}
        </div>
      )}
    </>
  )
}

function Projects({ name, projects }: { readonly name: string; readonly projects: readonly Project[] }) {
  const { tasks, clients } = useWorkspace().view
  if (projects.length === 0) return null
  return (
    <section aria-label={name} className="mb-5">
      <h2 className="mb-2 px-1 text-sm text-faint">{name}</h2>
      <ul className="grid gap-2 sm:grid-cols-2 xl:grid-cols-3">
        {projects.map((project) => {
          const own = tasks.rows.filter(({ projectId }) => projectId === project.id)
          const open = own.filter(({ status }) => status !== "done").length
          const client = clients.rows.find(({ id }) => id === project.clientId)
          const Icon = project.status === "archived" ? Archive : Folder
          return (
            <li key={project.id}>
              <Link
                to={`/projects/${encodeURIComponent(project.id)}`}
                className="flex h-full items-start gap-2.5 rounded-xl border border-line bg-surface px-3.5 py-2.5 text-sm transition-colors hover:border-accent"
              >
                <Icon className="mt-1 size-4 shrink-0 text-faint" aria-hidden="true" />
                <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                  <span className="block font-medium">
                    <Plain text={project.name} />
                  </span>
                  <span className="block text-[13px] text-faint">
                    {own.length === 0
                      ? t("workspace.projectNoTasks")
                      : t("workspace.projectTasks", { open, total: own.length })}
                    {client && <> · {rich("workspace.clientOf", { name: <Plain text={client.name} /> })}</>}
                  </span>
                </span>
              </Link>
            </li>
          )
        })}
      </ul>
    </section>
  )
}
