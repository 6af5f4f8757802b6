import { Archive, Building, Folder } from "../icons/things.ts"
import { useState } from "react"
import type { Project } from "../../src/protocol/index.ts"
import { Button } from "../parts/button.tsx"
import { Link } from "../parts/link.tsx"
import { Plain } from "../parts/plain.tsx"
import { hasWords, SearchField } from "../parts/search-field.tsx"
import { count } from "../parts/words.ts"
import { PageHeader } from "../shell/page-header.tsx"
import { navigate } from "../state/router.ts"
import { useWorkspace } from "../state/workspace.ts"
import { createRow } from "./rows/edit-row.ts"
import { EmptyWorkspace } from "./empty-workspace.tsx"
import { QuickAdd } from "./rows/quick-add.tsx"
import { ReadProblem } from "./read-problem.tsx"
import { WorkspaceMenu } from "./workspace-menu.tsx"

/** All projects; those that are archived at the end. */
export function ProjectsPage() {
  const { view, problem } = useWorkspace()
  const [words, setWords] = useState("")
  const { projects } = view
  const found = projects.rows
    .filter(({ name, aiSummary }) => hasWords(words, name, aiSummary))
    .sort((a, b) => a.name.localeCompare(b.name))
  const isEmpty = projects.isKnown && projects.rows.length === 0
  const add = async (name: string) => {
    const { id } = await createRow("projects", { name })
    navigate(`/projects/${id}`)
  }
  return (
    <>
      <PageHeader title="Projects">
        <Button small look="quiet" onClick={() => navigate("/clients")}>
          <Building className="size-4" /> Clients
        </Button>
        <WorkspaceMenu />
      </PageHeader>
      <ReadProblem problem={problem} />
      {isEmpty ? (
        <EmptyWorkspace what="projects" says="A project holds tasks, checkpoints and notes together.">
          <QuickAdd what="project" onAdd={add} />
        </EmptyWorkspace>
      ) : (
        <div className="min-h-0 flex-1 overflow-y-auto px-3 pb-6 md:px-5">
          <div className="mb-3 flex flex-wrap gap-2">
            <div className="w-full md:w-80">
              <QuickAdd what="project" onAdd={add} />
            </div>
            <SearchField label="Search projects" value={words} onChange={setWords} />
          </div>
          <Projects name="Active" projects={found.filter(({ status }) => status === "active")} />
          <Projects name="Archived" projects={found.filter(({ status }) => status === "archived")} />
          {projects.isKnown && found.length === 0 && <p className="px-1 py-3 text-soft">No project is like that.</p>}
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
                    {own.length === 0 ? "no tasks" : `${open} of ${count(own.length, "task")} open`}
                    {client && (
                      <>
                        , for <Plain text={client.name} />
                      </>
                    )}
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
