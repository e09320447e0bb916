package importer

// nonBlock is nothing here: folders hold no pipes.
const nonBlock = 0
