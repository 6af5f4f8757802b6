import { useCallback, useState } from "react"
import { Button } from "../parts/button.tsx"
import { attempt } from "../parts/explain.ts"
import { Labelled, Select } from "../parts/labelled.tsx"
import { Plain } from "../parts/plain.tsx"
import { client } from "../state/client.ts"
import type { ConnectionView } from "../state/connections.ts"
import { EMPTY, type Fields, fieldsOf, leadsElsewhere, toNew, toPatch } from "./connection-fields.ts"
import { ConnectionWarnings } from "./connection-warnings.tsx"
import { useTest } from "./use-test.ts"

const KINDS = [
  ["postgres", "PostgreSQL"],
  ["sqlite", "SQLite"],
] as const

const SSL = [
  ["true", "Yes, and check the certificate"],
  ["no-verify", "Yes, with any certificate"],
  ["false", "No: also the password travels in the clear"],
] as const
/** Of a new one, where nothing was chosen. */
const USUAL_SSL = [["", "Yes, and check the certificate; not on the server's own machine"], ...SSL] as const

interface ConnectionFormProps {
  /** The one to change; without it a new one is made. */
  readonly connection?: ConnectionView
  readonly onDone: (connection: ConnectionView) => void
  readonly onCancel?: () => void
}

/** How to reach a database, to be stored. */
export function ConnectionForm({ connection, onDone, onCancel }: ConnectionFormProps) {
  const [fields, setFields] = useState<Fields>(() => (connection ? fieldsOf(connection) : EMPTY))
  const [isSent, setSent] = useState(false)
  const look = useCallback(() => client.tryConnection({ body: toNew(fields) }), [fields])
  const { found, isTrying, tryIt, forget } = useTest(look)
  const set = (change: Partial<Fields>) => {
    setFields({ ...fields, ...change })
    forget()
  }
  const patch = connection && toPatch(connection, fields)
  const isElsewhere = connection !== undefined && leadsElsewhere(connection, fields)
  const save = async () => {
    setSent(true)
    await attempt(async () => {
      const params = { id: connection?.id ?? "" }
      const saved = patch
        ? await client.changeConnection({ params, body: patch })
        : await client.createConnection({ body: toNew(fields) })
      setFields(EMPTY)
      forget()
      onDone(saved)
    })
    setSent(false)
  }
  const field = (column: keyof Fields & string, label: string, more: React.ComponentProps<"input"> = {}) => (
    <Labelled label={label}>
      <input
        required={column !== "password"}
        autoComplete={column === "password" ? "new-password" : "off"}
        value={String(fields[column])}
        onChange={(event) => set({ [column]: event.target.value })}
        className="field"
        {...more}
      />
    </Labelled>
  )
  return (
    <form
      className={connection ? "grid gap-3 sm:grid-cols-2" : "grid gap-3 rounded-xl bg-sunken px-4 py-3 sm:grid-cols-2"}
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      {field("name", "Name", { maxLength: 200, autoFocus: connection !== undefined })}
      {!connection && (
        <Labelled label="Kind">
          <Select
            value={fields.kind}
            choices={KINDS}
            onChoose={(kind) => set({ kind: kind === "sqlite" ? kind : "postgres" })}
          />
        </Labelled>
      )}
      {fields.kind === "sqlite" ? (
        field("path", "File, on the server")
      ) : (
        <>
          {field("host", "Host")}
          {field("port", "Port", { type: "number", min: 1, max: 65_535 })}
          {field("database", "Database")}
          {field("user", "User")}
          {field("password", isElsewhere ? "Password, again" : "Password", {
            type: "password",
            required: isElsewhere && !fields.hasNoPassword,
            disabled: fields.hasNoPassword,
            placeholder: connection && !isElsewhere ? "stays as it is" : "",
          })}
          <Labelled label="Encrypted">
            <Select value={fields.ssl} choices={connection ? SSL : USUAL_SSL} onChoose={(ssl) => set({ ssl })} />
          </Labelled>
          {isElsewhere && (
            <div className="text-[13px] text-warn sm:col-span-2">
              A stored password is not sent to another place: write it again.
              <label className="mt-1 flex items-center gap-2 text-soft">
                <input
                  type="checkbox"
                  checked={fields.hasNoPassword}
                  onChange={(event) => set({ hasNoPassword: event.target.checked, password: "" })}
                />
                It needs none
              </label>
            </div>
          )}
        </>
      )}
      <div className={`flex flex-wrap items-center gap-2 sm:col-span-2 ${connection ? "justify-end" : ""}`}>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button look="main" type="submit" disabled={isSent || (patch !== undefined && Object.keys(patch).length === 0)}>
          {connection ? "Save" : "Connect"}
        </Button>
        {!connection && (
          <>
            <Button
              disabled={isTrying}
              onClick={(event) => {
                if (event.currentTarget.form?.reportValidity()) void tryIt()
              }}
            >
              Test
            </Button>
            <span role="status" className={`text-[13px] ${found?.ok ? "text-good" : "text-danger"}`}>
              {found && <Plain text={found.says} />}
              <ConnectionWarnings found={found} />
            </span>
          </>
        )}
      </div>
    </form>
  )
}
