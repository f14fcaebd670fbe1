package helenus;

import com.datastax.oss.driver.api.core.metadata.schema.KeyspaceMetadata;
import com.datastax.oss.driver.api.core.metadata.schema.SchemaChangeListenerBase;
import com.datastax.oss.driver.api.core.metadata.schema.TableMetadata;
import com.datastax.oss.driver.api.core.type.UserDefinedType;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Remembers the schema changes that the driver was told of. */
final class SchemaEvents extends SchemaChangeListenerBase {
  final Set<String> seen = ConcurrentHashMap.newKeySet();

  @Override
  public void onKeyspaceCreated(KeyspaceMetadata keyspace) {
    seen.add("created keyspace " + keyspace.getName().asInternal());
  }

  @Override
  public void onKeyspaceDropped(KeyspaceMetadata keyspace) {
    seen.add("dropped keyspace " + keyspace.getName().asInternal());
  }

  @Override
  public void onKeyspaceUpdated(KeyspaceMetadata current, KeyspaceMetadata previous) {
    seen.add("updated keyspace " + current.getName().asInternal());
  }

  @Override
  public void onTableCreated(TableMetadata table) {
    seen.add("created table " + table.getName().asInternal());
  }

  @Override
  public void onTableDropped(TableMetadata table) {
    seen.add("dropped table " + table.getName().asInternal());
  }

  @Override
  public void onTableUpdated(TableMetadata current, TableMetadata previous) {
    seen.add("updated table " + current.getName().asInternal());
  }

  @Override
  public void onUserDefinedTypeCreated(UserDefinedType type) {
    seen.add("created type " + type.getName().asInternal());
  }

  @Override
  public void onUserDefinedTypeDropped(UserDefinedType type) {
    seen.add("dropped type " + type.getName().asInternal());
  }

  @Override
  public void onUserDefinedTypeUpdated(UserDefinedType current, UserDefinedType previous) {
    seen.add("updated type " + current.getName().asInternal());
  }
}
