"""What one read transaction asks twice it reads once."""

from novelgen.models.entity import Entity
from novelgen.models.position import END_OF_STORY
from runtime.storage.database import DatabaseManager
from tests.benchmarks.path import counted_statements
from tests.support.databases import on_both_databases


@on_both_databases
def test_a_read_transaction_reads_entities_once(database: DatabaseManager) -> None:
    """Names, identities and the project come from what was read; another transaction sees what came meanwhile."""
    demo = database.project("demo")
    with demo.read() as unit, counted_statements() as statements:
        before = [unit.entities.list_all(), unit.entities.list_as_of(as_of=END_OF_STORY), unit.entities.revealed()]
        # Entities with their names, and the first mentions.
        assert len(statements) == 2
        assert (unit.projects.require().name, unit.projects.require().language) == ("Demo", "en")
        assert len(statements) == 3
        with demo.write() as other:
            other.entities.upsert(Entity(entity_id="C0", entity_type="character", name="Ada"))
            assert [stored.entity.name for stored in other.entities.list_all()] == ["Ada"]
            other.entities.upsert(Entity(entity_id="C0", entity_type="character", name="Ida"))
            assert [stored.entity.name for stored in other.entities.list_all()] == ["Ida"]
        assert [unit.entities.list_all(), unit.entities.list_as_of(as_of=END_OF_STORY), {}] == before == [[], [], {}]
    with demo.read() as unit:
        assert [stored.entity.name for stored in unit.entities.list_all()] == ["Ida"]
