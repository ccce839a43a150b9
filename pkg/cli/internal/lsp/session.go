package lsp

import (
	"encoding/json"
	"errors"
	"slices"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/diag"
	"github.com/skillpm/skillpm/pkg/internal/bug"
	"github.com/skillpm/skillpm/pkg/skill/profile"
)

// initializeParams is what the server reads of the first message. The library's type is older than some clients, and
// rejects the message if one value has another type.
type initializeParams struct {
	RootURI          protocol.DocumentURI       `json:"rootUri"`
	RootPath         string                     `json:"rootPath"`
	WorkspaceFolders []protocol.WorkspaceFolder `json:"workspaceFolders"`
	Options          json.RawMessage            `json:"initializationOptions"`
	Capabilities     struct {
		General struct {
			PositionEncodings []encoding `json:"positionEncodings"`
		} `json:"general"`
		Workspace struct {
			Configuration         bool    `json:"configuration"`
			DidChangeWatchedFiles dynamic `json:"didChangeWatchedFiles"`
			WorkspaceEdit         struct {
				DocumentChanges bool `json:"documentChanges"`
			} `json:"workspaceEdit"`
		} `json:"workspace"`
		TextDocument struct {
			Hover struct {
				ContentFormat []protocol.MarkupKind `json:"contentFormat"`
			} `json:"hover"`
			Completion struct {
				CompletionItem struct {
					SnippetSupport      bool                  `json:"snippetSupport"`
					DocumentationFormat []protocol.MarkupKind `json:"documentationFormat"`
				} `json:"completionItem"`
			} `json:"completion"`
			CodeAction struct {
				CodeActionLiteralSupport *struct{} `json:"codeActionLiteralSupport"`
			} `json:"codeAction"`
			PublishDiagnostics struct {
				CodeDescriptionSupport bool `json:"codeDescriptionSupport"`
			} `json:"publishDiagnostics"`
		} `json:"textDocument"`
	} `json:"capabilities"`
}

type dynamic struct {
	DynamicRegistration bool `json:"dynamicRegistration"`
}

// client returns the client's capabilities.
func (p *initializeParams) client() client {
	c := &p.Capabilities
	plain := func(formats []protocol.MarkupKind) bool { return !slices.Contains(formats, protocol.Markdown) }
	out := client{
		encoding:       utf16Units,
		plainTextHover: plain(c.TextDocument.Hover.ContentFormat),
		plainTextDocs:  plain(c.TextDocument.Completion.CompletionItem.DocumentationFormat),
		snippets:       c.TextDocument.Completion.CompletionItem.SnippetSupport,
		versions:       c.Workspace.WorkspaceEdit.DocumentChanges,
		actions:        c.TextDocument.CodeAction.CodeActionLiteralSupport != nil,
		configured:     c.Workspace.Configuration,
		watches:        c.Workspace.DidChangeWatchedFiles.DynamicRegistration,
		links:          c.TextDocument.PublishDiagnostics.CodeDescriptionSupport,
	}
	for _, e := range c.General.PositionEncodings {
		if e == utf8Units || e == utf16Units || e == utf32Units {
			out.encoding = e
			break
		}
	}
	return out
}

// folders returns the folders of the workspace.
func (p *initializeParams) folders(windows bool) []string {
	var all []string
	for _, f := range p.WorkspaceFolders {
		if dir := pathOf(protocol.DocumentURI(f.URI), windows); dir != "" {
			all = append(all, dir)
		}
	}
	if len(all) == 0 && p.RootURI != "" {
		if dir := pathOf(p.RootURI, windows); dir != "" {
			all = append(all, dir)
		}
	}
	if len(all) == 0 && p.RootPath != "" {
		if dir := toSlash(p.RootPath, windows); isAbsolute(dir) {
			all = append(all, dir)
		}
	}
	return all
}

// capabilities are the server's; the library's type has no encodings yet.
type capabilities struct {
	protocol.ServerCapabilities
	PositionEncoding encoding `json:"positionEncoding"`
}

type initializeResult struct {
	Capabilities capabilities        `json:"capabilities"`
	ServerInfo   protocol.ServerInfo `json:"serverInfo"`
}

func (s *server) initialize(params json.RawMessage) (any, error) {
	p := new(initializeParams)
	if err := json.Unmarshal(params, p); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidParams, "%v", err)
	}
	s.mu.Lock()
	if s.state != stateNew {
		s.mu.Unlock()
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "the server is already initialized")
	}
	s.state = stateRunning
	s.view = s.view.with(func(v *view) {
		v.client = p.client()
		v.folders = p.folders(v.windows())
	})
	o := s.view.options
	s.mu.Unlock()
	s.configure(p.Options)
	result := initializeResult{ServerInfo: protocol.ServerInfo{Name: "skillpm", Version: o.Version}}
	result.Capabilities.PositionEncoding = p.client().encoding
	result.Capabilities.ServerCapabilities = protocol.ServerCapabilities{
		TextDocumentSync: protocol.TextDocumentSyncOptions{
			OpenClose: true, Change: protocol.TextDocumentSyncKindFull, Save: &protocol.SaveOptions{},
		},
		HoverProvider:        true,
		DocumentLinkProvider: &protocol.DocumentLinkOptions{},
		CompletionProvider:   &protocol.CompletionOptions{TriggerCharacters: []string{":", " ", "(", "/", "["}},
		CodeActionProvider: protocol.CodeActionOptions{CodeActionKinds: []protocol.CodeActionKind{
			protocol.QuickFix,
			fixAll,
		}},
		Workspace: &protocol.ServerCapabilitiesWorkspace{
			WorkspaceFolders: &protocol.ServerCapabilitiesWorkspaceFolders{Supported: true, ChangeNotifications: true},
		},
	}
	return result, nil
}

// initialized requests configuration and file watching from the client.
func (s *server) initialized() {
	c := s.currentView().client
	if c.configured {
		s.fetchConfiguration()
	}
	if c.watches {
		s.callClient(protocol.MethodClientRegisterCapability, &protocol.RegistrationParams{
			Registrations: []protocol.Registration{{
				ID: "skillpm-files", Method: protocol.MethodWorkspaceDidChangeWatchedFiles,
				RegisterOptions: protocol.DidChangeWatchedFilesRegistrationOptions{
					Watchers: []protocol.FileSystemWatcher{{GlobPattern: "**/*"}},
				},
			}},
		}, nil, nil)
	}
}

// callClient sends a request, and calls then after the answer.
func (s *server) callClient(method string, params, result any, then func()) {
	bug.Go(func() {
		if _, err := s.conn.Call(s.ctx, method, params, result); err != nil && s.ctx.Err() == nil {
			s.log(protocol.MessageTypeInfo, method+": "+err.Error())
		} else if err == nil && then != nil {
			then()
		}
	})
}

func (s *server) fetchConfiguration() {
	var answers []json.RawMessage
	s.callClient(protocol.MethodWorkspaceConfiguration, &protocol.ConfigurationParams{
		Items: []protocol.ConfigurationItem{{Section: "skillpm"}},
	}, &answers, func() {
		if len(answers) > 0 {
			s.configure(answers[0])
			s.scheduleAll()
		}
	})
}

// configure applies the client's settings: {"profiles": ["claude-code"]}, or the same under "skillpm". Missing settings
// stay as they are.
func (s *server) configure(settings json.RawMessage) {
	var p struct {
		Profiles []string `json:"profiles"`
		Skillpm  struct {
			Profiles []string `json:"profiles"`
		} `json:"skillpm"`
	}
	if len(settings) == 0 || json.Unmarshal(settings, &p) != nil {
		return
	}
	ids := append(p.Profiles, p.Skillpm.Profiles...)
	if len(ids) == 0 {
		return
	}
	if _, err := profile.Select(ids); err != nil {
		s.warn("skillpm: " + err.Error() + ": " + diag.HintOf(err))
		return
	}
	s.update(func(v *view) { v.profiles = ids })
}

type configurationParams struct {
	Settings json.RawMessage `json:"settings"`
}

// didChangeConfiguration applies new settings; a client that supports requests for settings sends none.
func (s *server) didChangeConfiguration(p *configurationParams) {
	if s.currentView().client.configured {
		s.fetchConfiguration()
		return
	}
	s.configure(p.Settings)
	s.scheduleAll()
}

func (s *server) didChangeFolders(p *protocol.DidChangeWorkspaceFoldersParams) {
	s.update(func(v *view) {
		for _, f := range p.Event.Removed {
			dir := pathOf(protocol.DocumentURI(f.URI), v.windows())
			v.folders = slices.DeleteFunc(v.folders, func(have string) bool { return have == dir })
		}
		for _, f := range p.Event.Added {
			if dir := pathOf(protocol.DocumentURI(f.URI), v.windows()); dir != "" && !slices.Contains(v.folders, dir) {
				v.folders = append(v.folders, dir)
			}
		}
	})
	s.scheduleAll()
}
