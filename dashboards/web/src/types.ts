// SPDX-License-Identifier: Apache-2.0
// The messages of /api/v1 as far as the page reads them; see api/proto/weft/v1. 64-bit numbers are strings in JSON.

export interface Entity {
  kind: string;
  fabric: string;
  label: string;
  nodeGuid: string;
  port: number;
  peerGuid: string;
  peerPort: number;
  identity: string;
  host: string;
  device: string;
}

export interface Evidence {
  signal: string;
  description: string;
  value: number;
  threshold?: number;
  unit: string;
  observed?: string;
  /** What it was read from. */
  where?: Entity;
}

export interface TimelineEntry {
  at?: string;
  change: string;
  severity: Severity;
  text: string;
  who: string;
  numbersAt?: string;
  leftOut: number;
}

/** Of /api/v1/incidents/{id}/timeline. */
export interface TimelineEvent {
  at?: string;
  source: 'INCIDENT' | 'PLAN' | 'MAINTENANCE';
  what: string;
  who: string;
  text: string;
  severity: Severity;
  planId: string;
  maintenanceId: string;
  leftOut: number;
  numbersAt?: string;
}

export interface Timeline {
  events: TimelineEvent[];
  leftOut: number;
}

export interface Collector {
  host: string;
  state: 'CONNECTED' | 'SILENT' | 'DISCONNECTED';
  version: string;
  heard?: string;
  address: string;
  behindSeconds?: number;
  clockOffsetSeconds: number;
  lostBatches: string;
  lateBatches: string;
  jobs: string[];
  sources: {name: string; ok: boolean; message: string}[];
  shard: string;
  /** What it read last; only when that was asked for. */
  ports?: {device: string; port: number; counters: Reading[]}[];
}

export interface MaintenanceWindow {
  id: string;
  state: string;
  entity?: Entity;
  from?: string;
  until?: string;
  ended?: string;
  reason: string;
  addedBy: string;
  shard: string;
}

/** A run that decides whether hosts, switches and links are fit for jobs. */
export interface Acceptance {
  id: string;
  what: string;
  started?: string;
  until?: string;
  /** "7200s" */
  length: string;
  /** Later than `started` where weftd was restarted. */
  watchedSince?: string;
  ended?: string;
  endedBy: string;
  who: string;
  verdict: string;
  /** Kinds of checks. */
  failed: string[];
  shard: string;
  /** Not of a list. */
  report?: AcceptanceReport;
}

export interface AcceptanceReport {
  ports: number;
  checks: AcceptanceCheck[];
  hosts: {name: string; verdict: string}[];
}

export interface AcceptanceCheck {
  kind: string;
  name: string;
  verdict: string;
  required: boolean;
  limit: string;
  source: string;
  told: string;
  passed: number;
  failed: number;
  unfinished: number;
  unmeasured: number;
  /** That did not pass; not all, where there are many. */
  ports: {verdict: string; port: string; host: string; told: string; judgedAt?: string}[];
}

export interface AuditRecord {
  sequence: string;
  at?: string;
  who: string;
  what: string;
  planId: string;
  incidentId: string;
  detail: string;
  shard: string;
}

export interface Link {
  fabric: string;
  a?: PortReference;
  /** Not set: the far end is not known. */
  b?: PortReference;
  up: boolean;
  shard: string;
}

export interface WorstLink {
  value: number;
  at?: PortReference;
  link?: Link;
}

/** What the memory of a module says of itself. */
export interface ModuleIdentity {
  vendor: string;
  partNumber: string;
  revision: string;
  serialNumber: string;
}

/** What did harm over a time. */
export interface WorstThing {
  what?: Entity;
  module?: ModuleIdentity;
  harmHours: number;
  /** "5400s". */
  trouble?: string;
  critical?: string;
  jobs: number;
  times: number;
  kinds: string[];
  incidents: number;
  incidentIds: string[];
  isOpen: boolean;
  shard: string;
}

export interface Worst {
  things: WorstThing[];
  completeFrom?: string;
  elsewhere: number;
}

/** A port with another value than is right. */
export interface DriftHolder {
  where?: Entity;
  host: string;
  value: string;
  since?: string;
  young: boolean;
}

export interface DriftDifference {
  fact: string;
  state: string;
  group: string;
  members: number;
  hosts: number;
  values: {value: string; count: number}[];
  valuesLeftOut: number;
  differing: number;
  young: number;
  holders: DriftHolder[];
  unit: string;
  shard: string;
  expected: string;
}

export interface DriftSummary {
  enabled: boolean;
  hosts: number;
  groups: number;
  agreed: number;
  small: number;
  unjudgedPorts: number;
  leftOut: number;
  untoldSettings: number;
  shard: string;
}

export interface Drift {
  differences: DriftDifference[];
  summaries: DriftSummary[];
}

export type Severity = 'CRITICAL' | 'WARNING' | 'INFO' | 'SEVERITY_UNSPECIFIED';

export interface Advice {
  suspects: {part: 'HOST' | 'CABLE' | 'MODULE' | 'SWITCH'; where?: Entity; share: number}[];
  isClear: boolean;
  first: string;
  reasons: string[];
}

export interface Incident {
  id: string;
  revision: string;
  kind: string;
  severity: Severity;
  state: 'OPEN' | 'ACKNOWLEDGED' | 'RESOLVED';
  summary: string;
  cause?: Entity;
  affected: Entity[];
  evidence: Evidence[];
  jobs: string[];
  confidence: number;
  opened?: string;
  updated?: string;
  resolved?: string;
  occurrences: number;
  acknowledgedBy: string;
  silencedUntil?: string;
  waiting: {sender?: Entity; towards: string; stallRatio: number; utilizationRatio: number}[];
  waitingTotal: string;
  beginnings: string[];
  maintenanceId: string;
  worstSeverity: Severity;
  headline: string;
  timeline: TimelineEntry[];
  shard: string;
  runbook?: string;
  advice?: Advice;
}

export interface Plan {
  id: string;
  revision: string;
  state: string;
  action: string;
  revertedAction: string;
  target?: Entity;
  actuator: string;
  incidentId: string;
  undoes: string;
  reason: string;
  requestedBy: string;
  approvedBy: string;
  jobs: string[];
  candidates: {action: string; costRatio: number; harmRatio: number; allowed: boolean; explanation: string}[];
  guards: {guard: string; result: string; explanation: string}[];
  steps: {at?: string; state: string; who: string; what: string}[];
  created?: string;
  updated?: string;
  expires?: string;
  finished?: string;
  probationUntil?: string;
  started?: string;
  waitsFor: string;
  windowsGood?: number;
  windowsNeeded?: number;
  inForce: boolean;
  /** Since when its target has been out of service. Of an older weftd nothing. */
  heldSince?: string;
  /** Who keeps it out, and why. */
  keptOut?: string;
  returnAfter?: string;
  onlyByHand?: boolean;
  unresolved: boolean;
  outcome: string;
  refused: boolean;
  shard: string;
}

export interface PortReference {
  node: string;
  nodeGuid: string;
  port: number;
  /** Of the interface, on Ethernet; empty where ports have numbers only. */
  name: string;
}

export interface Reading {
  name: string;
  value: string;
  unit: string;
  instance?: number;
}

export interface Port {
  fabric: string;
  node: string;
  nodeGuid: string;
  port: number;
  name: string;
  guid: string;
  lid: number;
  state: string;
  physicalState: string;
  width: string;
  speed: string;
  widthSupported: string;
  speedSupported: string;
  rateBitsPerSecond: number;
  peer?: PortReference;
  stateReadAt?: string;
  countersReadAt?: string;
  stale: boolean;
  rates?: {
    transmitBitsPerSecond?: number;
    receiveBitsPerSecond?: number;
    utilizationRatio?: number;
    stallRatio?: number;
    errorRate?: number;
  };
  counters: (Reading & {saturated: boolean})[];
}

export interface Node {
  guid: string;
  name: string;
  description: string;
  host: string;
  type: string;
  aggregationNode: boolean;
  portCount: number;
  reachable: boolean;
  fabric: string;
  ports: Port[];
  shard: string;
}

export interface Health {
  node: string;
  verdict: string;
  recommendedAction: string;
  reasons: {incidentId: string; kind: string; severity: Severity; since?: string; message: string; maintenanceId: string; planId: string; shard: string}[];
  dataAge?: string;
  /** That know it. */
  shards?: string[];
  /** That tell nothing now: what they may know is not in the verdict. */
  missingShards?: string[];
}

export interface Remedy {
  handsOffByPerson: string;
  handsOffByFile: string;
  breakerTripped: boolean;
  breakerReason: string;
  /** Fabrics. Of an older weftd nothing. */
  silentManagers?: string[];
  /** Until then plans wait, after a takeover. */
  ordersFrom?: string;
  /** Of each of them, when weftd found it silent. */
  silentSince?: string[];
}

/** Of /api/v1/map: what there is. Arrays by position; see api/convert/fabric_map.hpp. */
export interface FabricMap {
  fabric: string;
  epoch: string;
  shape: string;
  guids: string[];
  names: string[];
  hosts: string[];
  types: string;
  links: number[];
  /** Of Ethernet: what both ends of each link are called, "leaf01 swp3". */
  ends?: string[];
  /** Names, as metrics have them, and of each node a position among them, or -1. Where the fabric has neither, or weftd is older, nothing. */
  pods?: string[];
  podOf?: number[];
  rails?: string[];
  railOf?: number[];
}

/** Of /api/v1/map/state: how it is, one character for each node or link of the map of that shape. */
export interface FabricState {
  fabric: string;
  watching: boolean;
  status: string;
  shape?: string;
  sweepFinished?: string;
  nodes?: string;
  links?: string;
  traffic?: string; // of an older weftd of the site: none
  stall?: string;
  errors?: string;
}

export interface MapState {
  ready: boolean;
  notReady?: string; // why, and what to do about it
  taken?: string;
  storeOk: boolean;
  storeStatus: string;
  leads?: boolean; // where two weftd share a database
  held?: false; // it leads without its lease
  role?: string;
  leader?: string;
  epoch?: number; // grows with each change of the leader
  fabrics: FabricState[];
}

/** One weftd, or pair, of a site. */
export interface Shard {
  name: string;
  own: boolean;
  /** Why it did not answer. */
  trouble: string;
  /** No weftd of it has led yet. */
  neverLed: boolean;
}

export type Role = 'viewer' | 'operator' | 'admin';
