export namespace protocol {
	
	export class Ask {
	    acts: boolean;
	    risky: boolean;
	    reason?: string;
	    prefixes?: string[];
	    title: string;
	    detail?: string;
	    dir?: string;
	
	    static createFrom(source: any = {}) {
	        return new Ask(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.acts = source["acts"];
	        this.risky = source["risky"];
	        this.reason = source["reason"];
	        this.prefixes = source["prefixes"];
	        this.title = source["title"];
	        this.detail = source["detail"];
	        this.dir = source["dir"];
	    }
	}
	export class Approval {
	    id: string;
	    turn: string;
	    item: string;
	    tool: string;
	    backend: string;
	    ask: Ask;
	    asked: string;
	
	    static createFrom(source: any = {}) {
	        return new Approval(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.turn = source["turn"];
	        this.item = source["item"];
	        this.tool = source["tool"];
	        this.backend = source["backend"];
	        this.ask = this.convertValues(source["ask"], Ask);
	        this.asked = source["asked"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class AssistantItem {
	    text: string;
	    partial?: boolean;
	    raw?: any;
	
	    static createFrom(source: any = {}) {
	        return new AssistantItem(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.text = source["text"];
	        this.partial = source["partial"];
	        this.raw = source["raw"];
	    }
	}
	export class Attachment {
	    name: string;
	    mime: string;
	    size: number;
	    object: string;
	    path?: string;
	
	    static createFrom(source: any = {}) {
	        return new Attachment(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.mime = source["mime"];
	        this.size = source["size"];
	        this.object = source["object"];
	        this.path = source["path"];
	    }
	}
	export class BackendInfo {
	    name: string;
	    label: string;
	    blurb: string;
	    available: boolean;
	    reason?: string;
	    remedy?: string;
	    version?: string;
	    confined: boolean;
	    planned?: boolean;
	    image?: string;
	
	    static createFrom(source: any = {}) {
	        return new BackendInfo(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.label = source["label"];
	        this.blurb = source["blurb"];
	        this.available = source["available"];
	        this.reason = source["reason"];
	        this.remedy = source["remedy"];
	        this.version = source["version"];
	        this.confined = source["confined"];
	        this.planned = source["planned"];
	        this.image = source["image"];
	    }
	}
	export class Usage {
	    inputTokens: number;
	    cachedTokens: number;
	    outputTokens: number;
	    reasoningTokens: number;
	    costMicros: number;
	    unpriced?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new Usage(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.inputTokens = source["inputTokens"];
	        this.cachedTokens = source["cachedTokens"];
	        this.outputTokens = source["outputTokens"];
	        this.reasoningTokens = source["reasoningTokens"];
	        this.costMicros = source["costMicros"];
	        this.unpriced = source["unpriced"];
	    }
	}
	export class Rewound {
	    id: string;
	    what: string;
	    head?: string;
	    turns: number;
	    snapshot?: string;
	    at: string;
	    back?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new Rewound(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.what = source["what"];
	        this.head = source["head"];
	        this.turns = source["turns"];
	        this.snapshot = source["snapshot"];
	        this.at = source["at"];
	        this.back = source["back"];
	    }
	}
	export class Moving {
	    what: string;
	    to: Spot;
	    waits?: boolean;
	    since: string;
	
	    static createFrom(source: any = {}) {
	        return new Moving(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.what = source["what"];
	        this.to = this.convertValues(source["to"], Spot);
	        this.waits = source["waits"];
	        this.since = source["since"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Captured {
	    snapshot: string;
	    entries: number;
	    bytes: number;
	
	    static createFrom(source: any = {}) {
	        return new Captured(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.snapshot = source["snapshot"];
	        this.entries = source["entries"];
	        this.bytes = source["bytes"];
	    }
	}
	export class Spot {
	    backend: string;
	    workspace: string;
	
	    static createFrom(source: any = {}) {
	        return new Spot(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.backend = source["backend"];
	        this.workspace = source["workspace"];
	    }
	}
	export class Place {
	    backend: string;
	    workspace?: string;
	    folder?: string;
	    image?: string;
	    sandbox?: string;
	
	    static createFrom(source: any = {}) {
	        return new Place(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.backend = source["backend"];
	        this.workspace = source["workspace"];
	        this.folder = source["folder"];
	        this.image = source["image"];
	        this.sandbox = source["sandbox"];
	    }
	}
	export class Setup {
	    snapshot?: string;
	    source: Place;
	    onto?: string;
	    what: string;
	    from: Spot;
	    turn: number;
	    title?: string;
	    current?: Captured;
	
	    static createFrom(source: any = {}) {
	        return new Setup(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.snapshot = source["snapshot"];
	        this.source = this.convertValues(source["source"], Place);
	        this.onto = source["onto"];
	        this.what = source["what"];
	        this.from = this.convertValues(source["from"], Spot);
	        this.turn = source["turn"];
	        this.title = source["title"];
	        this.current = this.convertValues(source["current"], Captured);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class FolderSize {
	    path: string;
	    files: number;
	    bytes: number;
	
	    static createFrom(source: any = {}) {
	        return new FolderSize(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.path = source["path"];
	        this.files = source["files"];
	        this.bytes = source["bytes"];
	    }
	}
	export class SnapshotAsk {
	    files: number;
	    bytes: number;
	    largest: FolderSize[];
	
	    static createFrom(source: any = {}) {
	        return new SnapshotAsk(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.files = source["files"];
	        this.bytes = source["bytes"];
	        this.largest = this.convertValues(source["largest"], FolderSize);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class SnapshotPolicy {
	    exclude?: string[];
	    whole?: boolean;
	    off?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new SnapshotPolicy(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.exclude = source["exclude"];
	        this.whole = source["whole"];
	        this.off = source["off"];
	    }
	}
	export class Options {
	    provider: string;
	    model: string;
	    effort: string;
	    approve: string;
	    allowPrefixes?: string[];
	
	    static createFrom(source: any = {}) {
	        return new Options(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.provider = source["provider"];
	        this.model = source["model"];
	        this.effort = source["effort"];
	        this.approve = source["approve"];
	        this.allowPrefixes = source["allowPrefixes"];
	    }
	}
	export class QueuedMessage {
	    id: string;
	    content: string;
	    preview: string;
	    attachments?: number;
	    steer?: boolean;
	    sent: string;
	    retry?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new QueuedMessage(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.content = source["content"];
	        this.preview = source["preview"];
	        this.attachments = source["attachments"];
	        this.steer = source["steer"];
	        this.sent = source["sent"];
	        this.retry = source["retry"];
	    }
	}
	export class Retry {
	    at: string;
	    attempt: number;
	    class: string;
	    reason: string;
	
	    static createFrom(source: any = {}) {
	        return new Retry(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.at = source["at"];
	        this.attempt = source["attempt"];
	        this.class = source["class"];
	        this.reason = source["reason"];
	    }
	}
	export class OpenTurn {
	    id: string;
	    index: number;
	    step: number;
	    started: string;
	    doing: string;
	    content?: string[];
	    stopping: boolean;
	
	    static createFrom(source: any = {}) {
	        return new OpenTurn(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.index = source["index"];
	        this.step = source["step"];
	        this.started = source["started"];
	        this.doing = source["doing"];
	        this.content = source["content"];
	        this.stopping = source["stopping"];
	    }
	}
	export class Session {
	    id: string;
	    version: number;
	    title: string;
	    titleAuto: boolean;
	    backend: string;
	    workspace: string;
	    ownWorkspace: boolean;
	    folder?: string;
	    image?: string;
	    sandbox?: string;
	    confined: boolean;
	    state: string;
	    turn?: OpenTurn;
	    retry?: Retry;
	    approvals?: Approval[];
	    queue?: QueuedMessage[];
	    fault?: Fault;
	    options: Options;
	    parent?: string;
	    head?: string;
	    turns: number;
	    serial: number;
	    snapshot?: string;
	    snapshots: SnapshotPolicy;
	    snapshotAsk?: SnapshotAsk;
	    setup?: Setup;
	    moving?: Moving;
	    left?: Place[];
	    held?: string;
	    rewinds?: Rewound[];
	    usage: Usage;
	    contextTokens: number;
	    created: string;
	    updated: string;
	
	    static createFrom(source: any = {}) {
	        return new Session(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.version = source["version"];
	        this.title = source["title"];
	        this.titleAuto = source["titleAuto"];
	        this.backend = source["backend"];
	        this.workspace = source["workspace"];
	        this.ownWorkspace = source["ownWorkspace"];
	        this.folder = source["folder"];
	        this.image = source["image"];
	        this.sandbox = source["sandbox"];
	        this.confined = source["confined"];
	        this.state = source["state"];
	        this.turn = this.convertValues(source["turn"], OpenTurn);
	        this.retry = this.convertValues(source["retry"], Retry);
	        this.approvals = this.convertValues(source["approvals"], Approval);
	        this.queue = this.convertValues(source["queue"], QueuedMessage);
	        this.fault = this.convertValues(source["fault"], Fault);
	        this.options = this.convertValues(source["options"], Options);
	        this.parent = source["parent"];
	        this.head = source["head"];
	        this.turns = source["turns"];
	        this.serial = source["serial"];
	        this.snapshot = source["snapshot"];
	        this.snapshots = this.convertValues(source["snapshots"], SnapshotPolicy);
	        this.snapshotAsk = this.convertValues(source["snapshotAsk"], SnapshotAsk);
	        this.setup = this.convertValues(source["setup"], Setup);
	        this.moving = this.convertValues(source["moving"], Moving);
	        this.left = this.convertValues(source["left"], Place);
	        this.held = source["held"];
	        this.rewinds = this.convertValues(source["rewinds"], Rewound);
	        this.usage = this.convertValues(source["usage"], Usage);
	        this.contextTokens = source["contextTokens"];
	        this.created = source["created"];
	        this.updated = source["updated"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Endpoint {
	    name: string;
	    url: string;
	
	    static createFrom(source: any = {}) {
	        return new Endpoint(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.url = source["url"];
	    }
	}
	export class Settings {
	    provider: string;
	    model: string;
	    effort: string;
	    endpoints: Endpoint[];
	    backend: string;
	    dockerImage: string;
	    approve: string;
	    theme: string;
	    trace: string;
	    firstRunDone: boolean;
	    recentFolders: string[];
	    prefs?: any;
	
	    static createFrom(source: any = {}) {
	        return new Settings(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.provider = source["provider"];
	        this.model = source["model"];
	        this.effort = source["effort"];
	        this.endpoints = this.convertValues(source["endpoints"], Endpoint);
	        this.backend = source["backend"];
	        this.dockerImage = source["dockerImage"];
	        this.approve = source["approve"];
	        this.theme = source["theme"];
	        this.trace = source["trace"];
	        this.firstRunDone = source["firstRunDone"];
	        this.recentFolders = source["recentFolders"];
	        this.prefs = source["prefs"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Fault {
	    class: string;
	    happened: string;
	    kept?: string;
	    remedy?: string;
	    detail?: string;
	    retryAfter?: number;
	
	    static createFrom(source: any = {}) {
	        return new Fault(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.class = source["class"];
	        this.happened = source["happened"];
	        this.kept = source["kept"];
	        this.remedy = source["remedy"];
	        this.detail = source["detail"];
	        this.retryAfter = source["retryAfter"];
	    }
	}
	export class EngineStatus {
	    state: string;
	    role: string;
	    text?: string;
	    fault?: Fault;
	    notices?: string[];
	    since: string;
	
	    static createFrom(source: any = {}) {
	        return new EngineStatus(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.state = source["state"];
	        this.role = source["role"];
	        this.text = source["text"];
	        this.fault = this.convertValues(source["fault"], Fault);
	        this.notices = source["notices"];
	        this.since = source["since"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Boot {
	    version: string;
	    platform: string;
	    engine: EngineStatus;
	    settings: Settings;
	    sessions: Session[];
	    defaultProvider: string;
	    defaultModel: string;
	    askTrace: boolean;
	    traceTo: string;
	    dataDir: string;
	    home: string;
	
	    static createFrom(source: any = {}) {
	        return new Boot(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.version = source["version"];
	        this.platform = source["platform"];
	        this.engine = this.convertValues(source["engine"], EngineStatus);
	        this.settings = this.convertValues(source["settings"], Settings);
	        this.sessions = this.convertValues(source["sessions"], Session);
	        this.defaultProvider = source["defaultProvider"];
	        this.defaultModel = source["defaultModel"];
	        this.askTrace = source["askTrace"];
	        this.traceTo = source["traceTo"];
	        this.dataDir = source["dataDir"];
	        this.home = source["home"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class Skipped {
	    path: string;
	    why: string;
	
	    static createFrom(source: any = {}) {
	        return new Skipped(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.path = source["path"];
	        this.why = source["why"];
	    }
	}
	export class Carry {
	    known: boolean;
	    snapshot?: string;
	    files: number;
	    bytes: number;
	    excluded?: string[];
	    skipped?: Skipped[];
	    title: string;
	    running: boolean;
	    commands: number;
	
	    static createFrom(source: any = {}) {
	        return new Carry(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.known = source["known"];
	        this.snapshot = source["snapshot"];
	        this.files = source["files"];
	        this.bytes = source["bytes"];
	        this.excluded = source["excluded"];
	        this.skipped = this.convertValues(source["skipped"], Skipped);
	        this.title = source["title"];
	        this.running = source["running"];
	        this.commands = source["commands"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ChangeScope {
	    turn: string;
	    live?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ChangeScope(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.turn = source["turn"];
	        this.live = source["live"];
	    }
	}
	export class ChangedFile {
	    path: string;
	    rawPath?: string;
	    op: string;
	    kind: string;
	    oldSize: number;
	    newSize: number;
	    added: number;
	    removed: number;
	    counted: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ChangedFile(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.path = source["path"];
	        this.rawPath = source["rawPath"];
	        this.op = source["op"];
	        this.kind = source["kind"];
	        this.oldSize = source["oldSize"];
	        this.newSize = source["newSize"];
	        this.added = source["added"];
	        this.removed = source["removed"];
	        this.counted = source["counted"];
	    }
	}
	export class Changes {
	    from: string;
	    to?: string;
	    files: ChangedFile[];
	    count: number;
	    added: number;
	    removed: number;
	    missing?: string;
	    skipped?: Skipped[];
	
	    static createFrom(source: any = {}) {
	        return new Changes(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.from = source["from"];
	        this.to = source["to"];
	        this.files = this.convertValues(source["files"], ChangedFile);
	        this.count = source["count"];
	        this.added = source["added"];
	        this.removed = source["removed"];
	        this.missing = source["missing"];
	        this.skipped = this.convertValues(source["skipped"], Skipped);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Check {
	    name: string;
	    ok: boolean;
	    needed: boolean;
	    text: string;
	    remedy?: string;
	
	    static createFrom(source: any = {}) {
	        return new Check(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.ok = source["ok"];
	        this.needed = source["needed"];
	        this.text = source["text"];
	        this.remedy = source["remedy"];
	    }
	}
	export class Upload {
	    name: string;
	    mime: string;
	    base64: string;
	
	    static createFrom(source: any = {}) {
	        return new Upload(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.mime = source["mime"];
	        this.base64 = source["base64"];
	    }
	}
	export class SendRequest {
	    id: string;
	    text: string;
	    files?: Upload[];
	    steer?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new SendRequest(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.text = source["text"];
	        this.files = this.convertValues(source["files"], Upload);
	        this.steer = source["steer"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class CreateRequest {
	    id?: string;
	    title?: string;
	    backend?: string;
	    workspace?: string;
	    image?: string;
	    options: Options;
	    first?: SendRequest;
	
	    static createFrom(source: any = {}) {
	        return new CreateRequest(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.title = source["title"];
	        this.backend = source["backend"];
	        this.workspace = source["workspace"];
	        this.image = source["image"];
	        this.options = this.convertValues(source["options"], Options);
	        this.first = this.convertValues(source["first"], SendRequest);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class DamagedObject {
	    object: string;
	    what: string;
	    sessionId?: string;
	    title?: string;
	
	    static createFrom(source: any = {}) {
	        return new DamagedObject(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.object = source["object"];
	        this.what = source["what"];
	        this.sessionId = source["sessionId"];
	        this.title = source["title"];
	    }
	}
	
	
	
	export class FileChange {
	    path: string;
	    op: string;
	    to?: string;
	    added: number;
	    removed: number;
	    diff?: string;
	
	    static createFrom(source: any = {}) {
	        return new FileChange(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.path = source["path"];
	        this.op = source["op"];
	        this.to = source["to"];
	        this.added = source["added"];
	        this.removed = source["removed"];
	        this.diff = source["diff"];
	    }
	}
	export class FileContent {
	    path: string;
	    size: number;
	    offset: number;
	    bytes: number;
	    text?: string;
	    base64?: string;
	    mime: string;
	    kind: string;
	    modified: string;
	
	    static createFrom(source: any = {}) {
	        return new FileContent(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.path = source["path"];
	        this.size = source["size"];
	        this.offset = source["offset"];
	        this.bytes = source["bytes"];
	        this.text = source["text"];
	        this.base64 = source["base64"];
	        this.mime = source["mime"];
	        this.kind = source["kind"];
	        this.modified = source["modified"];
	    }
	}
	export class FileSide {
	    kind: string;
	    size: number;
	    mode: number;
	    text?: string;
	    base64?: string;
	    mime?: string;
	    tooLarge?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new FileSide(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.kind = source["kind"];
	        this.size = source["size"];
	        this.mode = source["mode"];
	        this.text = source["text"];
	        this.base64 = source["base64"];
	        this.mime = source["mime"];
	        this.tooLarge = source["tooLarge"];
	    }
	}
	export class FileDiff {
	    path: string;
	    old?: FileSide;
	    new?: FileSide;
	
	    static createFrom(source: any = {}) {
	        return new FileDiff(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.path = source["path"];
	        this.old = this.convertValues(source["old"], FileSide);
	        this.new = this.convertValues(source["new"], FileSide);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class FileEntry {
	    name: string;
	    path: string;
	    rawPath?: string;
	    kind: string;
	    size: number;
	    mode: number;
	    modified: string;
	    target?: string;
	
	    static createFrom(source: any = {}) {
	        return new FileEntry(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.path = source["path"];
	        this.rawPath = source["rawPath"];
	        this.kind = source["kind"];
	        this.size = source["size"];
	        this.mode = source["mode"];
	        this.modified = source["modified"];
	        this.target = source["target"];
	    }
	}
	
	export class FolderInfo {
	    path: string;
	    exists: boolean;
	    entries: number;
	    writable: boolean;
	    git: boolean;
	    refused?: string;
	
	    static createFrom(source: any = {}) {
	        return new FolderInfo(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.path = source["path"];
	        this.exists = source["exists"];
	        this.entries = source["entries"];
	        this.writable = source["writable"];
	        this.git = source["git"];
	        this.refused = source["refused"];
	    }
	}
	
	export class Target {
	    backend: string;
	    workspace?: string;
	    image?: string;
	    onto?: string;
	
	    static createFrom(source: any = {}) {
	        return new Target(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.backend = source["backend"];
	        this.workspace = source["workspace"];
	        this.image = source["image"];
	        this.onto = source["onto"];
	    }
	}
	export class ForkRequest {
	    id: string;
	    newId?: string;
	    title?: string;
	    turn?: string;
	    when?: string;
	    target: Target;
	    filesOnly?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ForkRequest(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.newId = source["newId"];
	        this.title = source["title"];
	        this.turn = source["turn"];
	        this.when = source["when"];
	        this.target = this.convertValues(source["target"], Target);
	        this.filesOnly = source["filesOnly"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Receipt {
	    what: string;
	    from: Spot;
	    to: Spot;
	    snapshot?: string;
	    files: number;
	    bytes: number;
	    written: number;
	    removed: number;
	    excluded?: string[];
	    skipped?: Skipped[];
	    skippedCount?: number;
	    durationMs: number;
	    left?: boolean;
	    undo?: string;
	    back?: boolean;
	    kept?: string;
	    turn: number;
	    rewindWhat?: string;
	    fault?: Fault;
	
	    static createFrom(source: any = {}) {
	        return new Receipt(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.what = source["what"];
	        this.from = this.convertValues(source["from"], Spot);
	        this.to = this.convertValues(source["to"], Spot);
	        this.snapshot = source["snapshot"];
	        this.files = source["files"];
	        this.bytes = source["bytes"];
	        this.written = source["written"];
	        this.removed = source["removed"];
	        this.excluded = source["excluded"];
	        this.skipped = this.convertValues(source["skipped"], Skipped);
	        this.skippedCount = source["skippedCount"];
	        this.durationMs = source["durationMs"];
	        this.left = source["left"];
	        this.undo = source["undo"];
	        this.back = source["back"];
	        this.kept = source["kept"];
	        this.turn = source["turn"];
	        this.rewindWhat = source["rewindWhat"];
	        this.fault = this.convertValues(source["fault"], Fault);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ForkResult {
	    session: Session;
	    receipt: Receipt;
	
	    static createFrom(source: any = {}) {
	        return new ForkResult(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.session = this.convertValues(source["session"], Session);
	        this.receipt = this.convertValues(source["receipt"], Receipt);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class TurnEndItem {
	    index: number;
	    outcome: string;
	    durationMs: number;
	    steps: number;
	    usage: Usage;
	    provider: string;
	    model: string;
	    backend: string;
	    snapshot?: string;
	    base?: string;
	    changed?: number;
	    skipped?: Skipped[];
	
	    static createFrom(source: any = {}) {
	        return new TurnEndItem(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.index = source["index"];
	        this.outcome = source["outcome"];
	        this.durationMs = source["durationMs"];
	        this.steps = source["steps"];
	        this.usage = this.convertValues(source["usage"], Usage);
	        this.provider = source["provider"];
	        this.model = source["model"];
	        this.backend = source["backend"];
	        this.snapshot = source["snapshot"];
	        this.base = source["base"];
	        this.changed = source["changed"];
	        this.skipped = this.convertValues(source["skipped"], Skipped);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class SummaryItem {
	    text: string;
	    beforeTokens: number;
	
	    static createFrom(source: any = {}) {
	        return new SummaryItem(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.text = source["text"];
	        this.beforeTokens = source["beforeTokens"];
	    }
	}
	export class NoticeItem {
	    code: string;
	    text: string;
	    detail?: string;
	    receipt?: Receipt;
	
	    static createFrom(source: any = {}) {
	        return new NoticeItem(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.code = source["code"];
	        this.text = source["text"];
	        this.detail = source["detail"];
	        this.receipt = this.convertValues(source["receipt"], Receipt);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ToolResult {
	    output: string;
	    display?: string;
	    exitCode?: number;
	    durationMs: number;
	    outputBytes: number;
	    truncated?: boolean;
	    timedOut?: boolean;
	    process?: string;
	    log?: string;
	    changes?: FileChange[];
	    image?: string;
	    imageMime?: string;
	
	    static createFrom(source: any = {}) {
	        return new ToolResult(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.output = source["output"];
	        this.display = source["display"];
	        this.exitCode = source["exitCode"];
	        this.durationMs = source["durationMs"];
	        this.outputBytes = source["outputBytes"];
	        this.truncated = source["truncated"];
	        this.timedOut = source["timedOut"];
	        this.process = source["process"];
	        this.log = source["log"];
	        this.changes = this.convertValues(source["changes"], FileChange);
	        this.image = source["image"];
	        this.imageMime = source["imageMime"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ToolItem {
	    callId: string;
	    name: string;
	    args: string;
	    ask: Ask;
	    status: string;
	    result: ToolResult;
	    step?: number;
	    raw?: any;
	    started: string;
	
	    static createFrom(source: any = {}) {
	        return new ToolItem(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.callId = source["callId"];
	        this.name = source["name"];
	        this.args = source["args"];
	        this.ask = this.convertValues(source["ask"], Ask);
	        this.status = source["status"];
	        this.result = this.convertValues(source["result"], ToolResult);
	        this.step = source["step"];
	        this.raw = source["raw"];
	        this.started = source["started"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ReasoningItem {
	    summary: string;
	    provider?: string;
	    raw?: any;
	
	    static createFrom(source: any = {}) {
	        return new ReasoningItem(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.summary = source["summary"];
	        this.provider = source["provider"];
	        this.raw = source["raw"];
	    }
	}
	export class UserItem {
	    messageId: string;
	    text: string;
	    attachments?: Attachment[];
	    steered?: boolean;
	
	    static createFrom(source: any = {}) {
	        return new UserItem(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.messageId = source["messageId"];
	        this.text = source["text"];
	        this.attachments = this.convertValues(source["attachments"], Attachment);
	        this.steered = source["steered"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Item {
	    id: string;
	    turn: string;
	    seq: number;
	    kind: string;
	    time: string;
	    user?: UserItem;
	    assistant?: AssistantItem;
	    reasoning?: ReasoningItem;
	    tool?: ToolItem;
	    notice?: NoticeItem;
	    fault?: Fault;
	    summary?: SummaryItem;
	    turnEnd?: TurnEndItem;
	
	    static createFrom(source: any = {}) {
	        return new Item(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.turn = source["turn"];
	        this.seq = source["seq"];
	        this.kind = source["kind"];
	        this.time = source["time"];
	        this.user = this.convertValues(source["user"], UserItem);
	        this.assistant = this.convertValues(source["assistant"], AssistantItem);
	        this.reasoning = this.convertValues(source["reasoning"], ReasoningItem);
	        this.tool = this.convertValues(source["tool"], ToolItem);
	        this.notice = this.convertValues(source["notice"], NoticeItem);
	        this.fault = this.convertValues(source["fault"], Fault);
	        this.summary = this.convertValues(source["summary"], SummaryItem);
	        this.turnEnd = this.convertValues(source["turnEnd"], TurnEndItem);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class KeyInfo {
	    name: string;
	    label: string;
	    set: boolean;
	    where: string;
	    hint?: string;
	    secret: boolean;
	    value?: string;
	    endpoint?: string;
	    readOnly: boolean;
	
	    static createFrom(source: any = {}) {
	        return new KeyInfo(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.label = source["label"];
	        this.set = source["set"];
	        this.where = source["where"];
	        this.hint = source["hint"];
	        this.secret = source["secret"];
	        this.value = source["value"];
	        this.endpoint = source["endpoint"];
	        this.readOnly = source["readOnly"];
	    }
	}
	export class LogPart {
	    offset: number;
	    bytes: number;
	    text: string;
	    size: number;
	    ended: boolean;
	
	    static createFrom(source: any = {}) {
	        return new LogPart(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.offset = source["offset"];
	        this.bytes = source["bytes"];
	        this.text = source["text"];
	        this.size = source["size"];
	        this.ended = source["ended"];
	    }
	}
	export class ModelInfo {
	    id: string;
	    label?: string;
	    window?: number;
	    efforts?: string[];
	    images: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ModelInfo(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.label = source["label"];
	        this.window = source["window"];
	        this.efforts = source["efforts"];
	        this.images = source["images"];
	    }
	}
	
	
	
	
	export class OptionsChange {
	    provider?: string;
	    model?: string;
	    effort?: string;
	    approve?: string;
	    allowPrefixes?: string[];
	
	    static createFrom(source: any = {}) {
	        return new OptionsChange(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.provider = source["provider"];
	        this.model = source["model"];
	        this.effort = source["effort"];
	        this.approve = source["approve"];
	        this.allowPrefixes = source["allowPrefixes"];
	    }
	}
	export class Page {
	    items: Item[];
	    before?: string;
	    session: Session;
	
	    static createFrom(source: any = {}) {
	        return new Page(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.items = this.convertValues(source["items"], Item);
	        this.before = source["before"];
	        this.session = this.convertValues(source["session"], Session);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class ProviderInfo {
	    name: string;
	    label: string;
	    kind: string;
	    baseUrl?: string;
	    available: boolean;
	    reason?: string;
	    remedy?: string;
	    local: boolean;
	    default?: string;
	    models?: ModelInfo[];
	
	    static createFrom(source: any = {}) {
	        return new ProviderInfo(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.label = source["label"];
	        this.kind = source["kind"];
	        this.baseUrl = source["baseUrl"];
	        this.available = source["available"];
	        this.reason = source["reason"];
	        this.remedy = source["remedy"];
	        this.local = source["local"];
	        this.default = source["default"];
	        this.models = this.convertValues(source["models"], ModelInfo);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	
	
	export class Resolution {
	    id: string;
	    decision: string;
	    note?: string;
	
	    static createFrom(source: any = {}) {
	        return new Resolution(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.decision = source["decision"];
	        this.note = source["note"];
	    }
	}
	
	export class RevertRequest {
	    id: string;
	    scope: ChangeScope;
	    path: string;
	    rawPath?: string;
	
	    static createFrom(source: any = {}) {
	        return new RevertRequest(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.scope = this.convertValues(source["scope"], ChangeScope);
	        this.path = source["path"];
	        this.rawPath = source["rawPath"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class RewindRequest {
	    id: string;
	    turn?: string;
	    what: string;
	    when?: string;
	    undo?: string;
	
	    static createFrom(source: any = {}) {
	        return new RewindRequest(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.turn = source["turn"];
	        this.what = source["what"];
	        this.when = source["when"];
	        this.undo = source["undo"];
	    }
	}
	
	export class SearchHit {
	    sessionId: string;
	    title: string;
	    item?: string;
	    snippet?: string;
	
	    static createFrom(source: any = {}) {
	        return new SearchHit(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.sessionId = source["sessionId"];
	        this.title = source["title"];
	        this.item = source["item"];
	        this.snippet = source["snippet"];
	    }
	}
	
	export class SendResult {
	    id: string;
	    duplicate: boolean;
	    queued: boolean;
	
	    static createFrom(source: any = {}) {
	        return new SendResult(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.duplicate = source["duplicate"];
	        this.queued = source["queued"];
	    }
	}
	
	export class SessionUse {
	    id: string;
	    title: string;
	    own: number;
	    all: number;
	
	    static createFrom(source: any = {}) {
	        return new SessionUse(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.title = source["title"];
	        this.own = source["own"];
	        this.all = source["all"];
	    }
	}
	
	
	
	
	
	
	export class StoreUse {
	    bytes: number;
	    free: number;
	    objects: number;
	    files: number;
	    conversations: number;
	    unused: number;
	    sessions: SessionUse[];
	    damaged?: DamagedObject[];
	
	    static createFrom(source: any = {}) {
	        return new StoreUse(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.bytes = source["bytes"];
	        this.free = source["free"];
	        this.objects = source["objects"];
	        this.files = source["files"];
	        this.conversations = source["conversations"];
	        this.unused = source["unused"];
	        this.sessions = this.convertValues(source["sessions"], SessionUse);
	        this.damaged = this.convertValues(source["damaged"], DamagedObject);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class Swept {
	    objects: number;
	    bytes: number;
	
	    static createFrom(source: any = {}) {
	        return new Swept(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.objects = source["objects"];
	        this.bytes = source["bytes"];
	    }
	}
	export class SwitchRequest {
	    id: string;
	    when?: string;
	    target: Target;
	
	    static createFrom(source: any = {}) {
	        return new SwitchRequest(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.when = source["when"];
	        this.target = this.convertValues(source["target"], Target);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class TestResult {
	    ok: boolean;
	    text: string;
	
	    static createFrom(source: any = {}) {
	        return new TestResult(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.ok = source["ok"];
	        this.text = source["text"];
	    }
	}
	
	
	export class Turn {
	    id: string;
	    index: number;
	    title: string;
	    time: string;
	    outcome: string;
	    snapshot?: string;
	    changed: boolean;
	
	    static createFrom(source: any = {}) {
	        return new Turn(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.index = source["index"];
	        this.title = source["title"];
	        this.time = source["time"];
	        this.outcome = source["outcome"];
	        this.snapshot = source["snapshot"];
	        this.changed = source["changed"];
	    }
	}
	
	
	

}

