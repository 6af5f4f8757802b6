/** The protocol: schemas and types shared by clients, servers and other programs. It also runs in browsers. */
export { formatBytes, storageKinds, type StorageKind } from "./account/storage.ts"
export * from "./answers.ts"
export {
  ProviderView,
  NewAccess,
  ChangedEndpoint,
  modelFeatures,
  type Feature,
  FactSource,
  ModelAbilities,
  ModelPrice,
  FactSources,
  ModelEndpoint,
  LocalModelServer,
  toAbilities,
} from "./models/providers.ts"
export {
  ActionClass,
  ProposalStatus,
  Diff,
  Proposed,
  Proposal,
  DecidedProposal,
  DelayedResult,
  InverseCall,
  AuditEntry,
  statusAfterCall,
  isSettled,
  DEFAULT_GRANT_USES,
  Prefix,
  Approval,
  Grant,
  GrantList,
} from "./proposals/proposal.ts"
export {
  ClientContext,
  CLIENT_HISTORY,
  MAX_FILES,
  MAX_MESSAGE_FILE_BYTES,
  MAX_MESSAGE_FILE_NAME,
  MessageFile,
  WorkFile,
  UploadedFile,
  IMAGE_TYPES,
  isImageType,
  CallStatus,
  Reasoning,
  THINKING_SEPARATOR,
  reasoningOf,
  TextPart,
  ReasoningPart,
  CallPart,
  Part,
  PaidBy,
  Usage,
  Finish,
  missingAnswerReason,
  missingAnswerText,
  type ReplyFinish,
  CallView,
  Message,
  missingAnswer,
} from "./conversation/message.ts"
export * from "./conversation/stages.ts"
export * from "./conversation/conversation.ts"
export {
  CallProgress,
  type ReportedProgress,
  formatProgress,
  type ResultFiles,
  filesIn,
  isTextType,
  viewNames,
  type ViewName,
} from "./conversation/tool-calls.ts"
export * from "./chat-context.ts"
export * from "./cursor.ts"
export { CalendarMoment, Day, DayOrMoment, isDay, LAST_MOMENT } from "../shared/time/day.ts"
export * from "./errors.ts"
export {
  EVENT_VERSION,
  ConversationStarted,
  Settings,
  RunStarted,
  MessageAdded,
  Step,
  ToolStart,
  CallDelegated,
  ResultTaint,
  ToolEnd,
  AwaitingConfirmation,
  ProposalAdded,
  Decision,
  GrantRevoked,
  InDoubt,
  Resolution,
  LateResult,
  Restarted,
  ModelFallback,
  HistoryCut,
  Compaction,
  RunEnded,
  JournalEvent,
  type EventType,
  type EventOf,
  type NewEvent,
  type UnknownEvent,
} from "./events.ts"
export * from "./frames.ts"
export * from "./ids.ts"
export type { CollectionView, DocumentView, IngestingCollection, IngestProgress } from "./library.ts"
export * from "./notices.ts"
export * from "./requests.ts"
export * from "./routes/route.ts"
export * from "./routes/index.ts"
export * from "./conversation/reply-settings.ts"
export { ids, JsonObject, Mode, PersonText } from "./schema.ts"
export {
  scopes,
  type Scope,
  defaultScopes,
  issuerScopes,
  type Credential,
  type ClientKind,
  clientKindOf,
  lineageOf,
  SignIn,
  Identity,
  SignedIn,
  SessionView,
  ListedSession,
  Ticket,
  DeviceRequest,
  MAX_TOKEN_DAYS,
  NewToken,
  TokenView,
  CreatedToken,
  SignInWays,
  IssuerSignInStarted,
  IssuerAnswer,
} from "./account/sign-in.ts"
export * from "./conversation/questions.ts"
export * from "./socket.ts"
export * from "../shared/text/text.ts"
export { isTimeZone, TimeZone } from "../shared/time/zone.ts"
export * from "../shared/text/escape-bidi.ts"
export * from "./models/usage.ts"
export * from "./workspace-file.ts"
export * from "./workspace.ts"
export * from "./workspace-tables.ts"
