package session

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"time"
)

// maxFolderWords is how much of a title is in the name of a folder, in bytes.
const maxFolderWords = 40

// folderName names the fresh folder of a new session: what its title or its
// first message says, or when it was made, and then something of its own, so that no two sessions ask
// for one name. It is decided once, here, and travels with the session.
func folderName(id, title string, made time.Time) string {
	words := folderWords(title)
	if words == "" {
		words = made.Local().Format("2006-01-02-1504")
	}
	sum := sha256.Sum256([]byte(id))
	return words + "-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5]))
}

// folderWords is a title in small letters and digits, cut at a word; empty if
// nothing of it can be written so.
func folderWords(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	name := ""
	for _, word := range words {
		if len(name)+1+len(word) > maxFolderWords {
			if name == "" {
				name = "-" + word[:maxFolderWords-1]
			}
			break
		}
		name += "-" + word
	}
	return strings.TrimPrefix(name, "-")
}
