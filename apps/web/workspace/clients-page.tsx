import { Building, Pencil, Trash } from "../components/icons.tsx"
import { useState } from "react"
import type { WorkspaceClient } from "../../../core/protocol/index.ts"
import { IconButton, Link } from "../components/button.tsx"
import { Confirm } from "../components/dialog.tsx"
import { attempt } from "../components/explain.ts"
import { escapeHidden } from "../../../client/index.ts"
import { Labelled } from "../components/form.tsx"
import { Plain } from "../components/plain.tsx"
import { PageHeader } from "../shell/page-header.tsx"
import { useWorkspace } from "../state/workspace.ts"
import { rich, t } from "../strings/strings.ts"
import { createRow, deleteRow } from "./rows/edit-row.ts"
import { EmptyWorkspace, ReadProblem, WorkspaceMenu } from "./empty-workspace.tsx"
import { QuickAdd } from "./rows/quick-add.tsx"
import { RowDialog } from "./rows/dialog.tsx"
import { RowSelect } from "./rows/select.tsx"
import { useRowDraft } from "./rows/use-row-draft.ts"

/** The clients that projects belong to. */
export function ClientsPage() {
  const { view, problem } = useWorkspace()
  const { clients } = view
  const inOrder = [...clients.rows].sort((a, b) => a.name.localeCompare(b.name))
  const add = <QuickAdd what="client" onAdd={(name) => createRow("clients", { name })} />
  return (
    <>
      <PageHeader title={t("workspace.clients")}>
        <WorkspaceMenu />
      </PageHeader>
      <ReadProblem problem={problem} />
      {clients.isKnown && clients.rows.length === 0 ? (
        <EmptyWorkspace title={t("workspace.noClients")} hint={t("workspace.noClientsHint")}>
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
            {rich("workspace.partOfNamed", { name: <Plain text={parent.name} /> })}
          </p>
        )}
        {own.map(({ id, name }) => (
          <Link key={id} to={`/projects/${encodeURIComponent(id)}`} className="mr-3 text-[13px] text-accent underline">
            <Plain text={name} />
          </Link>
        ))}
      </div>
      <IconButton
        small
        label={t("workspace.editNamed", { name: escapeHidden(client.name) })}
        onClick={() => setDoing("edit")}
      >
        <Pencil className="size-3.5" />
      </IconButton>
      <IconButton
        small
        label={t("workspace.deleteNamed", { name: escapeHidden(client.name) })}
        onClick={() => setDoing("delete")}
      >
        <Trash className="size-3.5" />
      </IconButton>
      {doing === "edit" && <ClientDialog client={client} onClose={close} />}
      {doing === "delete" && (
        <Confirm
          title={t("workspace.deleteClientTitle")}
          name={client.name}
          says={t("workspace.deleteClientHint")}
          act={t("common.delete")}
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
      title={t("workspace.client")}
      name={{ label: t("common.name"), field: "name", value: value("name"), set: (name) => set("name", name) }}
      draft={draft}
      onClose={onClose}
    >
      <Labelled label={t("workspace.industry")}>
        <input
          value={value("industry") ?? ""}
          onChange={(event) => set("industry", event.target.value || null)}
          className="field"
        />
      </Labelled>
      <RowSelect
        label={t("workspace.partOf")}
        none={t("workspace.noParent")}
        value={value("parentId")}
        rows={others}
        onChoose={(parent) => set("parentId", parent)}
      />
    </RowDialog>
  )
}
