import { Building, Pencil, Trash } from "../icons/things.ts"
import { useState } from "react"
import type { WorkspaceClient } from "../../src/protocol/index.ts"
import { IconButton } from "../parts/button.tsx"
import { Confirm } from "../parts/dialog.tsx"
import { attempt } from "../parts/explain.ts"
import { escapeHidden } from "../parts/hidden-characters.ts"
import { Labelled } from "../parts/labelled.tsx"
import { Link } from "../parts/link.tsx"
import { Plain } from "../parts/plain.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { useWorkspace } from "../state/workspace.ts"
import { createRow, deleteRow } from "./rows/edit-row.ts"
import { EmptyWorkspace } from "./empty-workspace.tsx"
import { QuickAdd } from "./rows/quick-add.tsx"
import { ReadProblem } from "./read-problem.tsx"
import { RowDialog } from "./rows/dialog.tsx"
import { RowSelect } from "./rows/select.tsx"
import { useRowDraft } from "./rows/use-row-draft.ts"
import { WorkspaceMenu } from "./workspace-menu.tsx"

/** Whom projects are for. */
export function ClientsPage() {
  const { view, problem } = useWorkspace()
  const { clients } = view
  const inOrder = [...clients.rows].sort((a, b) => a.name.localeCompare(b.name))
  const add = <QuickAdd what="client" onAdd={(name) => createRow("clients", { name })} />
  return (
    <>
      <PageHeader title="Clients">
        <WorkspaceMenu />
      </PageHeader>
      <ReadProblem problem={problem} />
      {clients.isKnown && clients.rows.length === 0 ? (
        <EmptyWorkspace what="clients" says="A client is whom projects are for.">
          {add}
        </EmptyWorkspace>
      ) : (
        <div className="min-h-0 flex-1 overflow-y-auto px-3 pb-6 md:px-5">
          <div className="max-w-3xl space-y-3">
            {add}
            <ul className="divide-y divide-line rounded-2xl border border-line bg-surface">
              {inOrder.map((client) => (
                <Entry key={client.id} client={client} />
              ))}
            </ul>
          </div>
        </div>
      )}
    </>
  )
}

function Entry({ client }: { readonly client: WorkspaceClient }) {
  const { projects, clients } = useWorkspace().view
  const [doing, setDoing] = useState<"edit" | "delete">()
  const close = () => setDoing(undefined)
  const own = projects.rows.filter(({ clientId }) => clientId === client.id)
  const parent = clients.rows.find(({ id }) => id === client.parentId)
  return (
    <li className="flex items-start gap-2.5 px-3.5 py-2 text-sm">
      <Building className="mt-1 size-4 shrink-0 text-faint" aria-hidden="true" />
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p>
          <Plain text={client.name} />
          {client.industry && (
            <span className="text-faint">
              , <Plain text={client.industry} />
            </span>
          )}
        </p>
        {parent && (
          <p className="text-[13px] text-faint">
            part of <Plain text={parent.name} />
          </p>
        )}
        {own.map(({ id, name }) => (
          <Link key={id} to={`/projects/${encodeURIComponent(id)}`} className="mr-3 text-[13px] text-accent underline">
            <Plain text={name} />
          </Link>
        ))}
      </div>
      <IconButton small label={`Edit ${escapeHidden(client.name)}`} onClick={() => setDoing("edit")}>
        <Pencil className="size-3.5" />
      </IconButton>
      <IconButton small label={`Delete ${escapeHidden(client.name)}`} onClick={() => setDoing("delete")}>
        <Trash className="size-3.5" />
      </IconButton>
      {doing === "edit" && <ClientDialog client={client} onClose={close} />}
      {doing === "delete" && (
        <Confirm
          title="Delete this client?"
          says={
            <>
              “<Plain text={client.name} />” will be gone. One that still has projects or clients stays.
            </>
          }
          act="Delete"
          onClose={close}
          onAct={() => {
            close()
            void attempt(() => deleteRow("clients", client.id))
          }}
        />
      )}
    </li>
  )
}

function ClientDialog({ client, onClose }: { readonly client: WorkspaceClient; readonly onClose: () => void }) {
  const others = useWorkspace().view.clients.rows.filter(({ id }) => id !== client.id)
  const draft = useRowDraft("clients", client)
  const { value, set } = draft
  return (
    <RowDialog
      title="Client"
      name={{ label: "Name", value: value("name"), set: (name) => set("name", name) }}
      draft={draft}
      onClose={onClose}
    >
      <Labelled label="Industry">
        <input
          value={value("industry") ?? ""}
          onChange={(event) => set("industry", event.target.value || null)}
          className="field"
        />
      </Labelled>
      <RowSelect
        label="Part of"
        value={value("parentId")}
        rows={others}
        none="Nobody"
        onChoose={(parent) => set("parentId", parent)}
      />
    </RowDialog>
  )
}
