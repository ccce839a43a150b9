package bundle

import (
	"io"

	"github.com/skillpm/skillpm/pkg/diag"
)

// Hasher is a [Sink] that computes inventories and discards content.
type Hasher struct {
	files  *fileHasher
	skills map[string]*hashedSkill
	limits Limits
	bytes  int64
}

type hashedSkill struct {
	check     *Checker
	inventory Inventory
}

// NewHasher returns a Hasher with the given limits.
func NewHasher(limits Limits) *Hasher {
	return &Hasher{files: newFileHasher(), skills: make(map[string]*hashedSkill), limits: limits.OrDefault()}
}

// WriteFile hashes one file.
func (h *Hasher) WriteFile(skill, path string, executable bool, size int64, r io.Reader) error {
	s := h.skills[skill]
	if s == nil {
		s = &hashedSkill{check: NewChecker(h.limits)}
		h.skills[skill] = s
	}
	path = Normal(path)
	if err := s.check.AddFile(path, size); err != nil {
		return err
	}
	e, err := h.files.entry(path, executable, io.LimitReader(r, h.limits.FileBytes+1))
	if err != nil {
		return err
	}
	if e.Size > h.limits.FileBytes {
		return entryErrorf(path, "is larger than %d bytes", h.limits.FileBytes)
	}
	if h.bytes += e.Size; h.bytes > h.limits.TotalBytes {
		return entryErrorf(path, "makes the skills larger than %d bytes", h.limits.TotalBytes)
	}
	if size >= 0 && e.Size != size {
		return diag.Errorf(diag.Invalid, "entry %s has %d bytes instead of %d", quoteName(path), e.Size, size)
	}
	s.inventory = append(s.inventory, e)
	return nil
}

// Inventories returns the inventories by skill.
func (h *Hasher) Inventories() map[string]Inventory {
	m := make(map[string]Inventory, len(h.skills))
	for name, s := range h.skills {
		s.inventory.Sort()
		m[name] = s.inventory
	}
	return m
}
