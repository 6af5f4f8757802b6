import {
  type ComponentProps,
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  cloneElement,
  createContext,
  isValidElement,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from "react"
import { ClientError } from "../../../client/index.ts"
import { noticeSignOut } from "../state/identity.ts"
import { t } from "../strings/strings.ts"
import { Button } from "./button.tsx"
import { explain } from "./explain.ts"
import { Search } from "./icons.tsx"

/** The errors of a form: by field name, and those without a field. */
interface Problem {
  readonly fields: ReadonlyMap<string, string>
  readonly general: string
}

interface FormState {
  readonly id: string
  readonly isBusy: boolean
  readonly problem: Problem | undefined
  /** The names of the form's fields. */
  readonly names: Set<string>
}

const FormState = createContext<FormState | undefined>(undefined)

interface FormProps extends Omit<ComponentProps<"form">, "onSubmit"> {
  /** Throws the error to show: at the field that it names, else at the end. */
  readonly onSubmit: (form: HTMLFormElement) => Promise<unknown>
}

/** A form that submits once at a time and shows errors at their fields. */
export function Form({ onSubmit, children, ...rest }: FormProps) {
  const id = useId()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  const [names] = useState(() => new Set<string>())
  const isInProgress = useRef(false)
  const send = async (form: HTMLFormElement) => {
    // A ref, because two clicks may come before the next render.
    if (isInProgress.current) return
    isInProgress.current = true
    setBusy(true)
    setProblem(undefined)
    try {
      await onSubmit(form)
    } catch (error) {
      noticeSignOut(error)
      setProblem(toProblem(error, names))
    } finally {
      isInProgress.current = false
      setBusy(false)
    }
  }
  return (
    <FormState value={{ id, isBusy, problem, names }}>
      <form
        {...rest}
        onSubmit={(event) => {
          event.preventDefault()
          void send(event.currentTarget)
        }}
      >
        {children}
        {problem && problem.general !== "" && <ProblemText id={id}>{problem.general}</ProblemText>}
      </form>
    </FormState>
  )
}

interface SubmitProps extends ComponentProps<typeof Button> {
  /** Its label while the form is being submitted. */
  readonly busy?: string
}

/** The submit button of a form. */
export function SubmitButton({ disabled = false, busy, children, ...rest }: SubmitProps) {
  const isBusy = useContext(FormState)?.isBusy ?? false
  return (
    <Button type="submit" disabled={disabled || isBusy} {...rest}>
      {(isBusy && busy) || children}
    </Button>
  )
}

/** A field with its name in the request; errors about it are shown and announced below it. */
export function FormField({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  const form = useContext(FormState)
  const names = form?.names
  useEffect(() => {
    names?.add(name)
    return () => void names?.delete(name)
  }, [names, name])
  const problem = form?.problem?.fields.get(name)
  if (!form || problem === undefined) return children
  const id = `${form.id}-${name}`
  return (
    <>
      {describedBy(children, id)}
      <ProblemText id={id}>{problem}</ProblemText>
    </>
  )
}

/** The only field of a form, which all errors belong to. */
export function OnlyField({ children }: { readonly children: ReactNode }) {
  const form = useContext(FormState)
  return form?.problem ? describedBy(children, form.id) : children
}

const describedBy = (children: ReactNode, id: string): ReactNode =>
  isValidElement(children)
    ? cloneElement(children as ReactElement<ComponentProps<"input">>, { "aria-invalid": true, "aria-describedby": id })
    : children

const ProblemText = ({ id, children }: { readonly id: string; readonly children: string }) => (
  <span id={id} role="alert" className="mt-1 block w-full text-[13px] text-danger [overflow-wrap:anywhere]">
    {children}
  </span>
)

/** The fields of errors that name none. */
const FIELDS_OF_CODE = new Map<string, readonly string[]>([
  ["host_not_allowed", ["url", "baseUrl", "host"]],
  ["file_not_allowed", ["path"]],
  ["name_taken", ["name"]],
  ["superuser_refused", ["user"]],
])

function toProblem(error: unknown, names: ReadonlySet<string>): Problem {
  // Errors about the arguments of a tool name them within `arguments`.
  const text = explain(error).replace(/^arguments: /, "")
  if (!(error instanceof ClientError)) return { fields: new Map(), general: text }
  const known = FIELDS_OF_CODE.get(error.code)?.find((name) => names.has(name))
  if (known !== undefined) return { fields: new Map([[known, text]]), general: "" }
  if (error.code !== "bad_request") return { fields: new Map(), general: text }
  const fields = new Map<string, string>()
  const others = text.split("; ").filter((part) => {
    const [, path = "", problem = ""] = /^([\w.-]+): (.*)$/s.exec(part) ?? []
    // Errors about a row name its columns within `updates`, those about an answer its fields within `content`.
    const name = path.replace(/^(?:updates|content)\./, "").split(".")[0] ?? ""
    if (!names.has(name)) return true
    fields.set(name, toSentence(problem))
    return false
  })
  return { fields, general: others.join("; ") }
}

/** Schema messages are written for programs. */
function toSentence(problem: string): string {
  if (/^Too small/.test(problem)) return t("common.fieldTooShort")
  if (/^Too big/.test(problem)) return t("common.fieldTooLong")
  return /^Invalid/.test(problem) ? t("common.fieldInvalid") : problem
}

interface LabelledProps {
  readonly label: ReactNode
  /** The field's name in the request, for its error. */
  readonly field?: string
  readonly children: ReactNode
  readonly className?: string
}

/** A field with its label above it. */
export function Labelled({ label, field, children, className = "" }: LabelledProps) {
  return (
    <label className={`block min-w-0 text-sm ${className}`}>
      <span className="mb-1 block text-soft">{label}</span>
      {field === undefined ? children : <FormField name={field}>{children}</FormField>}
    </label>
  )
}

interface SelectProps extends Omit<ComponentProps<"select">, "onChange"> {
  readonly choices: readonly (readonly [value: string, name: string])[]
  readonly onChoose: (value: string) => void
}

/** A native select. */
export function Select({ choices, onChoose, className = "", ...rest }: SelectProps) {
  return (
    <select {...rest} onChange={(event) => onChoose(event.target.value)} className={`field ${className}`}>
      {choices.map(([value, name]) => (
        <option key={value} value={value}>
          {name}
        </option>
      ))}
    </select>
  )
}

interface SearchFieldProps extends Omit<ComponentProps<"input">, "onChange" | "value"> {
  readonly label: string
  readonly value: string
  readonly onChange: (words: string) => void
}

export function SearchField({ label, value, onChange, ...rest }: SearchFieldProps) {
  return (
    <div className="relative min-w-40 flex-1">
      <Search className="pointer-events-none absolute top-2.5 left-3 size-4 text-faint" />
      <input
        {...rest}
        type="search"
        value={value}
        aria-label={label}
        placeholder={label}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || value === "") return
          event.preventDefault()
          onChange("")
        }}
        className="field h-9 pl-9 text-sm"
      />
    </div>
  )
}

/** Whether one of the texts contains the words. */
export function containsText(words: string, ...texts: readonly (string | null)[]): boolean {
  const wanted = words.trim().toLowerCase()
  return wanted === "" || texts.some((text) => text?.toLowerCase().includes(wanted))
}

/** The keys of a field for a message: Enter sends its form, Shift+Enter starts a line, Escape cancels. */
export const messageKeys = (onCancel: () => void) => (event: KeyboardEvent<HTMLTextAreaElement>) => {
  // Enter that ends a word of an input method does not send.
  if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
    event.preventDefault()
    event.currentTarget.form?.requestSubmit()
  }
  if (event.key !== "Escape") return
  event.preventDefault()
  onCancel()
}
