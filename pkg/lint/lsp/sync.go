package lsp

import (
	"path"

	"go.lsp.dev/protocol"

	"github.com/skillpm/skillpm/pkg/skill"
)

func (s *server) opened(p *protocol.DidOpenTextDocumentParams) {
	s.put(p.TextDocument.URI, p.TextDocument.Version, p.TextDocument.Text)
}

// changedParams is a change; the library's type cannot tell the whole text from a part of it.
type changedParams struct {
	TextDocument   protocol.VersionedTextDocumentIdentifier `json:"textDocument"`
	ContentChanges []struct {
		Range *protocol.Range `json:"range"`
		Text  string          `json:"text"`
	} `json:"contentChanges"`
}

func (s *server) changed(p *changedParams) {
	v := s.now()
	d := v.document(p.TextDocument.URI)
	if d == nil || len(p.ContentChanges) == 0 {
		return
	}
	content := d.text.string
	for _, c := range p.ContentChanges {
		if c.Range == nil {
			content = c.Text
			continue
		}
		t := newText(content)
		start := t.offset(c.Range.Start, v.client.encoding)
		content = content[:start] + c.Text + content[max(start, t.offset(c.Range.End, v.client.encoding)):]
	}
	s.put(p.TextDocument.URI, p.TextDocument.Version, content)
}

func (s *server) put(uri protocol.DocumentURI, version int32, content string) {
	p := pathOf(uri, s.now().windows())
	if p == "" {
		return
	}
	v := s.update(func(v *view) { v.docs[p] = newDocument(uri, p, version, content) })
	s.touch(v, p)
}

func (s *server) saved(p *protocol.DidSaveTextDocumentParams) {
	v := s.now()
	if d := v.document(p.TextDocument.URI); d != nil {
		s.touch(v, d.path)
	}
}

// closed forgets a document. When no other of the skill is open, nothing is shown of the skill any more.
func (s *server) closed(p *protocol.DidCloseTextDocumentParams) {
	before := s.now()
	d := before.document(p.TextDocument.URI)
	if d == nil {
		return
	}
	target := before.target(d.path)
	v := s.update(func(v *view) { delete(v.docs, d.path) })
	if target == "" {
		return
	}
	for other := range v.docs {
		if v.target(other) == target {
			s.checks.add(target)
			return
		}
	}
	s.checks.mu.Lock()
	defer s.checks.mu.Unlock()
	delete(s.checks.due, target)
	if cancel := s.checks.running[target]; cancel != nil {
		cancel()
	}
	s.publish(before, target, nil)
}

// filesChanged has the skills checked whose files changed on disk and that are open.
func (s *server) filesChanged(p *protocol.DidChangeWatchedFilesParams) {
	v := s.now()
	targets := map[string]bool{}
	for open := range v.docs {
		if target := v.target(open); target != "" {
			targets[target] = true
		}
	}
	for _, e := range p.Changes {
		changed := pathOf(e.URI, v.windows())
		if changed == "" {
			continue
		}
		if path.Base(changed) == skill.File || ownSchema(changed) != "" {
			s.checkAgain() // there may be a skill now where there was none, or other rules
			return
		}
		for target := range targets {
			if _, ok := below(target, changed); ok {
				s.checks.add(target)
			}
		}
	}
}
