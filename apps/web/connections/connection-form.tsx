import { useCallback, useState } from "react"
import { Button } from "../components/button.tsx"
import { Form, Labelled, Select, SubmitButton } from "../components/form.tsx"
import { Plain } from "../components/plain.tsx"
import { client } from "../state/client.ts"
import type { ConnectionView } from "../state/connections.ts"
import { type Key, rich, t } from "../strings/strings.ts"
import { useTest } from "./use-test.ts"

const KINDS = [
  ["postgres", "PostgreSQL"],
  ["sqlite", "SQLite"],
] as const

type SslChoice = readonly [value: string, label: Key]
const SSL: readonly SslChoice[] = [
  ["true", "connections.sslVerify"],
  ["no-verify", "connections.sslNoVerify"],
  ["false", "connections.sslNone"],
]
/** A new connection starts with the default. */
const NEW_SSL: readonly SslChoice[] = [["", "connections.sslDefault"], ...SSL]

interface ConnectionFormProps {
  /** The connection to edit. If absent, the form creates one. */
  readonly connection?: ConnectionView
  readonly onDone: (connection: ConnectionView) => void
  readonly onCancel?: () => void
}

/** The form of a connection to a database. */
export function ConnectionForm({ connection, onDone, onCancel }: ConnectionFormProps) {
  const [fields, setFields] = useState<Fields>(() => (connection ? fieldsOf(connection) : EMPTY))
  const look = useCallback(() => client.tryConnection({ body: toNew(fields) }), [fields])
  const { found, isTesting, runTest, forget } = useTest(look)
  const set = (change: Partial<Fields>) => {
    setFields({ ...fields, ...change })
    forget()
  }
  const patch = connection && toPatch(connection, fields)
  const isElsewhere = connection !== undefined && needsPassword(connection, fields)
  const save = async () => {
    const params = { id: connection?.id ?? "" }
    const saved = patch
      ? await client.changeConnection({ params, body: patch })
      : await client.createConnection({ body: toNew(fields) })
    setFields(EMPTY)
    forget()
    onDone(saved)
  }
  const field = (column: keyof Fields & string, label: string, more: React.ComponentProps<"input"> = {}) => (
    <Labelled label={label} field={column}>
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
    <Form
      className={connection ? "grid gap-3 sm:grid-cols-2" : "grid gap-3 rounded-xl bg-sunken px-4 py-3 sm:grid-cols-2"}
      onSubmit={save}
    >
      {field("name", t("common.name"), { maxLength: 200, autoFocus: connection !== undefined })}
      {!connection && (
        <Labelled label={t("connections.type")}>
          <Select
            value={fields.kind}
            choices={KINDS}
            onChoose={(kind) => set({ kind: kind === "sqlite" ? kind : "postgres" })}
          />
        </Labelled>
      )}
      {fields.kind === "sqlite" ? (
        field("path", t("connections.fileOnServer"))
      ) : (
        <>
          {field("host", t("connections.host"))}
          {field("port", t("connections.port"), { type: "number", min: 1, max: 65_535 })}
          {field("database", t("connections.database"))}
          {field("user", t("connections.user"))}
          {field("password", t(isElsewhere ? "connections.passwordAgain" : "connections.password"), {
            type: "password",
            required: isElsewhere && !fields.hasNoPassword,
            disabled: fields.hasNoPassword,
            placeholder: connection && !isElsewhere ? t("connections.passwordKept") : "",
          })}
          <Labelled label={t("connections.encryption")}>
            <Select
              value={fields.ssl}
              choices={(connection ? SSL : NEW_SSL).map(([value, label]) => [value, t(label)])}
              onChoose={(ssl) => set({ ssl })}
            />
          </Labelled>
          {isElsewhere && (
            <div className="text-[13px] text-warn sm:col-span-2">
              {t("connections.passwordMoved")}
              <label className="mt-1 flex items-center gap-2 text-soft">
                <input
                  type="checkbox"
                  checked={fields.hasNoPassword}
                  onChange={(event) => set({ hasNoPassword: event.target.checked, password: "" })}
                />
                {t("connections.noPassword")}
              </label>
            </div>
          )}
        </>
      )}
      <div className={`flex flex-wrap items-center gap-2 sm:col-span-2 ${connection ? "justify-end" : ""}`}>
        {onCancel && <Button onClick={onCancel}>{t("common.cancel")}</Button>}
        <SubmitButton look="main" disabled={patch !== undefined && Object.keys(patch).length === 0}>
          {t(connection ? "common.save" : "connections.connect")}
        </SubmitButton>
        {!connection && (
          <>
            <Button
              disabled={isTesting}
              onClick={(event) => {
                if (event.currentTarget.form?.reportValidity()) void runTest()
              }}
            >
              {t("connections.test")}
            </Button>
            <span role="status" className={`text-[13px] ${found?.ok ? "text-good" : "text-danger"}`}>
              {found && <Plain text={found.text} />}
              <ConnectionWarnings found={found} />
            </span>
          </>
        )}
      </div>
    </Form>
  )
}

interface ConnectionWarningsProps {
  readonly found: { readonly warnings: readonly string[] } | undefined
}

/** The risks that a test found in a database. */
export function ConnectionWarnings({ found }: ConnectionWarningsProps) {
  return found?.warnings.map((warning) => (
    <span key={warning} className="block text-[13px] text-warn">
      {rich("connections.warning", { text: <Plain text={warning} /> })}
    </span>
  ))
}

type Patch = NonNullable<Parameters<typeof client.changeConnection>[0]>["body"]
type New = NonNullable<Parameters<typeof client.createConnection>[0]>["body"]

/** A connection as a form holds it. */
interface Fields {
  readonly kind: "postgres" | "sqlite"
  readonly name: string
  readonly host: string
  readonly port: string
  readonly database: string
  readonly user: string
  readonly password: string
  /** Empty for the default of the host. */
  readonly ssl: string
  readonly path: string
  /** The person stated that the connection has no password. */
  readonly hasNoPassword: boolean
}

const EMPTY: Fields = {
  ...{ kind: "postgres", name: "", host: "", port: "5432", database: "", user: "", password: "", ssl: "" },
  ...{ path: "", hasNoPassword: false },
} as const

const fieldsOf = ({ kind, name, host, port, database, user, ssl, path }: ConnectionView): Fields => ({
  ...EMPTY,
  ...{ kind, name, host: host ?? "", port: String(port ?? 5432), database: database ?? "" },
  ...{ user: user ?? "", ssl: String(ssl ?? false), path: path ?? "" },
})

/** The server asks for the password again if the target changes, and if it cannot decrypt the stored one. */
function needsPassword(connection: ConnectionView, fields: Fields): boolean {
  if (connection.kind === "sqlite") return false
  const before = fieldsOf(connection)
  const isMoved = (["host", "port", "user", "ssl"] as const).some((field) => fields[field] !== before[field])
  return isMoved || !connection.configured
}

/** The fields of a new connection. */
function toNew({ kind, name, path, ...place }: Fields): New {
  if (kind === "sqlite") return { kind, name, path }
  const { host, database, user, password } = place
  return {
    kind,
    name,
    host,
    port: Number(place.port),
    database,
    user,
    password,
    ...(place.ssl === "" ? {} : { ssl: toSsl(place.ssl) }),
  }
}

/** Only the changed fields, and the password if it was entered or is required. */
function toPatch(connection: ConnectionView, fields: Fields): Patch {
  const before = fieldsOf(connection)
  const isAll = !connection.configured
  const isChanged = (field: keyof Fields) => isAll || fields[field] !== before[field]
  const name = fields.name.trim() === before.name ? {} : { name: fields.name }
  if (connection.kind === "sqlite") return { ...name, ...(isChanged("path") ? { path: fields.path } : {}) }
  const words = (["host", "database", "user"] as const)
    .filter(isChanged)
    .map((field) => [field, fields[field]] as const)
  return {
    ...name,
    ...Object.fromEntries(words),
    ...(isChanged("port") ? { port: Number(fields.port) } : {}),
    ...(isChanged("ssl") ? { ssl: toSsl(fields.ssl) } : {}),
    ...(fields.password !== "" || needsPassword(connection, fields) ? { password: fields.password } : {}),
  }
}

const toSsl = (ssl: string): boolean | "no-verify" => (ssl === "no-verify" ? ssl : ssl === "true")
